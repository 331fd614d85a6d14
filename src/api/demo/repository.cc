#include "api/demo/repository.h"

#include <fmt/format.h>

#include "core/file.h"
#include "core/try.h"
#include "git/command.h"

namespace skein {
namespace {

std::string data(const std::string& bytes) {
  return fmt::format("data {}\n{}\n", bytes.size(), bytes);
}

}  // namespace

Result<DemoRepository> DemoRepository::create(const std::string& folder) {
  SKEIN_TRY(git_output(folder, {"init", "--quiet", "--initial-branch=main"}));
  return DemoRepository(folder);
}

// By fast-import, which takes times as they are told and runs nothing of the user's configuration.
Result<std::string> DemoRepository::commit(const std::string& subject,
                                           const std::vector<DemoFile>& files, Timestamp time) {
  const std::string who = fmt::format("Demo <demo@example.org> {} +0000", time.ms() / 1000);
  std::string stream =
      fmt::format("commit refs/heads/main\nauthor {}\ncommitter {}\n{}", who, who, data(subject));
  if (!head_.empty()) stream += "from " + head_ + "\n";
  for (const DemoFile& file : files) {
    stream += fmt::format("M 100644 inline {}\n{}", file.path, data(file.content));
  }
  SKEIN_TRY(git_output(folder_, {"fast-import", "--quiet"}, stream));
  SKEIN_TRY(git_output(folder_, {"reset", "--quiet", "--hard", "refs/heads/main"}));
  SKEIN_ASSIGN(head_, git_output(folder_, {"rev-parse", "refs/heads/main"}));
  while (head_.ends_with('\n')) head_.pop_back();
  ++commits_;
  return head_;
}

Result<void> DemoRepository::write(const std::vector<DemoFile>& files) const {
  Flusher flusher(false);
  for (const DemoFile& file : files) {
    const std::string path = folder_ + "/" + file.path;
    SKEIN_TRY(make_folders(parent_folder(path), flusher));
    SKEIN_TRY(replace_file(path, file.content, flusher));
  }
  return {};
}

}  // namespace skein
