#include "git/sealed_repository.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/file.h"
#include "core/path_inside.h"
#include "core/quote.h"
#include "core/scratch_folder.h"
#include "core/try.h"
#include "git/command.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxHeadBytes = 4096;
constexpr std::size_t kMaxSharedIndexes = 16;

// What decides whether a file counts as changed. Each value is one word.
constexpr std::array<std::string_view, 11> kWords = {
    "core.filemode",       "core.ignorecase",         "core.precomposeunicode",
    "core.symlinks",       "core.autocrlf",           "core.eol",
    "core.checkstat",      "core.trustctime",         "index.sparse",
    "core.sparsecheckout", "core.sparsecheckoutcone",
};
// Files with rules of the user's own; those that a repository names do not count.
constexpr std::array<std::string_view, 2> kUserFiles = {"core.excludesfile", "core.attributesfile"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

std::string config_line(std::string_view name, std::string_view value) {
  const std::size_t dot = name.find('.');
  std::string line = "[" + std::string(name.substr(0, dot)) + "]\n\t";
  line += std::string(name.substr(dot + 1)) + " = \"";
  for (const char c : value) {
    if (c == '"' || c == '\\') line += '\\';
    line += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return line + "\"\n";
}

fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path canonical = fs::canonical(path, error);
  return error ? path.lexically_normal() : canonical;
}

// The repository that FOLDER/.git is or names; empty: there is no such entry.
fs::path git_dir_at(const fs::path& folder) {
  const fs::path entry = folder / ".git";
  std::error_code error;
  if (fs::is_directory(entry, error)) return resolved(entry);
  const auto text = read_file(resolved(entry).string(), kMaxHeadBytes);
  constexpr std::string_view kPrefix = "gitdir: ";
  if (!text || !*text || !(*text)->starts_with(kPrefix)) return {};
  std::string target = (*text)->substr(kPrefix.size());
  while (target.ends_with('\n') || target.ends_with('\r')) target.pop_back();
  return resolved(folder / target);
}

struct Answer {
  std::string git_dir;
  std::string common_dir;
  std::string object_format;
};

// "GIT_DIR\nCOMMON_DIR\nFORMAT\n", where a path may hold a line feed.
std::optional<Answer> parse_answer(std::string_view out) {
  if (out.ends_with('\n')) out.remove_suffix(1);
  const std::size_t last = out.rfind('\n');
  if (last == std::string_view::npos) return std::nullopt;
  const std::string_view paths = out.substr(0, last);
  const std::size_t half = paths.size() / 2;
  const bool same = paths.size() % 2 == 1 && paths[half] == '\n' &&
                    paths.substr(0, half) == paths.substr(half + 1);
  const std::size_t split = same ? half : paths.find('\n');
  if (split == std::string_view::npos || (!same && split != paths.rfind('\n'))) return std::nullopt;
  return Answer{std::string(paths.substr(0, split)), std::string(paths.substr(split + 1)),
                std::string(out.substr(last + 1))};
}

// HEAD as a file of its own: git takes no link that leads elsewhere.
Result<std::string> read_head(const std::string& git_dir) {
  const std::string file = git_dir + "/HEAD";
  std::error_code error;
  if (const fs::path target = fs::read_symlink(file, error); !error) {
    return "ref: " + target.string() + "\n";
  }
  SKEIN_ASSIGN(auto head, read_file(file, kMaxHeadBytes));
  if (!head) return fail(ErrorCode::kInvalid, quote(file, 200) + " is not a regular file");
  return std::move(*head);
}

Result<void> link(const ScratchFolder& scratch, const std::string& from, const std::string& name) {
  std::error_code error;
  const fs::path target = fs::path(from) / name;
  if (!fs::exists(target, error)) return {};
  const fs::path made = fs::path(scratch.path()) / name;
  fs::create_symlink(target, made, error);
  if (!error) return {};
  return fail(ErrorCode::kIo, "cannot create " + made.string() + ": " + error.message());
}

// The parts of an index that is split live beside it.
Result<void> link_shared_indexes(const ScratchFolder& scratch, const std::string& git_dir) {
  std::size_t linked = 0;
  SKEIN_ASSIGN(const auto names, list_folder(git_dir));
  for (const std::string& name : names) {
    if (!name.starts_with("sharedindex.") || ++linked > kMaxSharedIndexes) continue;
    SKEIN_TRY(link(scratch, git_dir, name));
  }
  return {};
}

}  // namespace

Result<std::optional<SealedRepository>> SealedRepository::find(const std::string& folder) {
  SKEIN_ASSIGN(const Finished asked,
               run_git(folder, {"rev-parse", "--path-format=absolute", "--git-dir",
                                "--git-common-dir", "--show-object-format"}));
  if (!asked.exit.ok()) {
    if (asked.err.find("not a git repository") != std::string::npos) return std::nullopt;
    return fail(ErrorCode::kInvalid,
                "git in " + folder + ": " + quote(asked.err.substr(0, asked.err.find('\n')), 200));
  }
  const auto answer = parse_answer(asked.out);
  if (!answer) {
    return fail(ErrorCode::kInvalid,
                "git in " + folder + " names no repository: " + quote(asked.out, 200));
  }
  SealedRepository found;
  found.git_dir_ = answer->git_dir;
  found.common_dir_ = answer->common_dir;
  found.object_format_ = answer->object_format;

  const fs::path git_dir = resolved(answer->git_dir);
  fs::path at = resolved(folder);
  if (is_inside(at, git_dir)) {
    if (git_dir.has_parent_path() && git_dir != git_dir.parent_path()) {
      SKEIN_ASSIGN(auto outer, find(git_dir.parent_path().string()));
      if (outer && !outer->work_tree_.empty()) return outer;
    }
  } else {
    while (git_dir_at(at) != git_dir && at != at.parent_path()) at = at.parent_path();
    if (git_dir_at(at) != git_dir) {
      return fail(ErrorCode::kInvalid, "git in " + folder + " uses " +
                                           quote(git_dir.string(), 200) +
                                           ", which no .git at or above that folder names");
    }
    found.work_tree_ = at.string();
  }
  return found;
}

Result<SealedRepository::Settings> SealedRepository::settings() const {
  SKEIN_ASSIGN(const Finished asked,
               run_git(folder(), {"config", "--no-includes", "--show-scope", "-z", "--get-regexp",
                                  "^(core|index|remote\\.origin)\\.[a-z]+$"}));
  Settings settings;
  const std::vector<std::string> pieces = split_nul(asked.out);
  for (std::size_t i = 0; i + 1 < pieces.size(); i += 2) {
    const bool users = pieces[i] == "global" || pieces[i] == "system";
    const std::size_t end = pieces[i + 1].find('\n');
    const std::string name = pieces[i + 1].substr(0, end);
    // A name alone is how git writes true.
    const std::string value = end == std::string::npos ? "true" : pieces[i + 1].substr(end + 1);
    if (name == "remote.origin.url") settings.remote_url = value;
    if ((contains(kWords, name) && is_word(value)) || (contains(kUserFiles, name) && users)) {
      settings.config += config_line(name, value);
    }
  }
  return settings;
}

Result<Finished> SealedRepository::run(std::vector<std::string> arguments,
                                       const Options& options) const {
  const bool bare = work_tree_.empty();
  std::error_code error;
  std::string config(options.config);
  config += config_line("core.bare", bare ? "true" : "false");
  config += config_line("core.repositoryformatversion", "1");
  if (object_format_ != "sha1") config += config_line("extensions.objectformat", object_format_);
  if (fs::exists(common_dir_ + "/reftable", error)) {
    config += config_line("extensions.refstorage", "reftable");
  }

  SKEIN_ASSIGN(const ScratchFolder scratch, ScratchFolder::create());
  SKEIN_TRY(scratch.write("config", config));
  SKEIN_ASSIGN(const std::string head, read_head(git_dir_));
  SKEIN_TRY(scratch.write("HEAD", head));
  for (const char* name : {"refs", "packed-refs", "reftable", "objects", "shallow"}) {
    SKEIN_TRY(link(scratch, common_dir_, name));
  }
  SKEIN_TRY(link(scratch, git_dir_, "logs"));
  SKEIN_TRY(make_folder(scratch.path() + "/info"));
  for (const char* name : {"info/exclude", "info/attributes"}) {
    SKEIN_TRY(link(scratch, common_dir_, name));
  }
  SKEIN_TRY(link(scratch, git_dir_, "info/sparse-checkout"));
  SKEIN_TRY(link_shared_indexes(scratch, git_dir_));

  std::vector<Spawn::Variable> variables = {{"GIT_DIR", scratch.path()},
                                            {"GIT_INDEX_FILE", git_dir_ + "/index"},
                                            {"GIT_CONFIG_NOSYSTEM", "1"},
                                            {"GIT_CONFIG_GLOBAL", "/dev/null"}};
  if (!bare) variables.push_back({"GIT_WORK_TREE", work_tree_});
  return run_git(folder(), std::move(arguments), variables, options.input);
}

Result<std::string> SealedRepository::output(std::vector<std::string> arguments,
                                             const Options& options) const {
  const std::string command = arguments.empty() ? "" : arguments[0];
  return output_of(run(std::move(arguments), options), command, folder());
}

}  // namespace skein
