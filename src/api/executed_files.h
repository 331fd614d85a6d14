// The files of a workspace that a command executes, as far as its words say so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "skein/error.h"

namespace skein {

// What may be read to find and hash files. A repository chooses what its agents name, so that the
// work is bounded whatever they name. One for all agents of a review; not thread-safe.
class ReadingBudget {
 public:
  // The names in a folder, which is listed once. kInvalid: the limit is reached.
  Result<const std::vector<std::string>*> entries_of(const std::filesystem::path& folder);
  // SHA-256 of a file's bytes, each file read once; of a file that is not there, 64 zeros.
  Result<std::string> digest_of_file(const std::filesystem::path& file);

 private:
  std::size_t entries_ = 0;
  std::uint64_t bytes_ = 0;
  std::map<std::filesystem::path, std::string> digests_;
  std::map<std::filesystem::path, std::vector<std::string>> listings_;
};

struct ExecutedFile {
  std::filesystem::path path;  // where its bytes are
  // A link to a folder outside the workspace: what is known of it is where it leads.
  bool is_folder = false;
  bool is_claude_settings = false;
};
// By their names in the workspace.
using ExecutedFiles = std::map<std::string, ExecutedFile>;

// What one agent starts.
struct ExecutedText {
  std::string folder;  // where it works
  std::string words;   // programs, arguments and "NAME=VALUE", with a NUL after each
};

// Each file of the workspace whose name the text spells (api/spelled_names.h), in the working
// folder, the workspace's own folder, or a folder whose name it spells as well; what interpreters
// execute of a folder that is named to them; and where the text sets PATH, each executable file of
// those folders. `workspace` is canonical. kInvalid, as a predicate: the files cannot all be found.
Result<ExecutedFiles> find_executed_files(const ExecutedText& text, const std::string& workspace,
                                          ReadingBudget& budget);

// Adds a file under its own name, wherever it is a link to, if that name or the target is inside
// the workspace. kInvalid, as a predicate: it is a link that leads elsewhere in each process.
Result<void> add_executed_file(const std::filesystem::path& file, const std::string& workspace,
                               ExecutedFiles& files);

}  // namespace skein
