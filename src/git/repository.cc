#include "git/repository.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "core/quote.h"
#include "core/try.h"
#include "git/command.h"
#include "git/submodules.h"

namespace skein {
namespace {

constexpr std::size_t kSubmoduleDepth = 3;  // submodules in submodules
constexpr const char* kCommitFormat = "--format=%H%x00%h%x00%ct%x00%s";

std::string_view without_line_end(std::string_view text) {
  return text.ends_with('\n') ? text.substr(0, text.size() - 1) : text;
}

// "rev-list" rather than "log": it takes nothing from the repository's settings.
std::vector<std::string> commit_listing(std::size_t limit) {
  return {"rev-list",   "--no-commit-header", kCommitFormat,
          "--abbrev=7", "--encoding=UTF-8",   "--max-count=" + std::to_string(limit)};
}

std::vector<Commit> parse_commits(std::string_view text) {
  std::vector<Commit> commits;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string> fields = split_nul(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (fields.size() < 3) continue;
    std::int64_t seconds = 0;
    std::from_chars(fields[2].data(), fields[2].data() + fields[2].size(), seconds);
    commits.push_back({fields[0], fields[1], Timestamp::from_ms(seconds * 1000),
                       fields.size() > 3 ? mended_utf8(fields[3]) : ""});
  }
  return commits;
}

// A name that git must take for a revision, never for an option or a path.
Result<void> check_revision(const std::string& name) {
  const bool plain =
      !name.empty() && name[0] != '-' &&
      std::none_of(name.begin(), name.end(),
                   [](unsigned char c) {
                     return c <= ' ' || c == 0x7F || c == ':' || c == '*' || c == '?';
                   }) &&
      name.find("..") == std::string::npos;
  if (plain) return {};
  return fail(ErrorCode::kInvalid, "not the name of a commit: " + quote(name));
}

// No part of the path is a link: a submodule must not be looked for elsewhere.
bool is_real_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::canonical(path, error) == path;
}

}  // namespace

Result<std::optional<Repository>> Repository::find(const std::string& folder) {
  struct stat st{};
  if (::stat(folder.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) {
    return fail(ErrorCode::kNotFound, "there is no folder " + quote(folder, 200));
  }
  SKEIN_ASSIGN(auto sealed, SealedRepository::find(folder));
  if (!sealed) return std::nullopt;
  const bool bare = sealed->work_tree().empty();
  std::string root = bare ? folder : sealed->work_tree();
  return Repository(std::move(*sealed), std::move(root), bare);
}

Result<std::string> Repository::branch() const {
  SKEIN_ASSIGN(const Finished asked, sealed_.run({"symbolic-ref", "-q", "--short", "HEAD"}));
  if (!asked.exit.ok()) return std::string("HEAD");
  return mended_utf8(without_line_end(asked.out));
}

Result<std::optional<Commit>> Repository::commit(const std::string& name) const {
  SKEIN_TRY(check_revision(name));
  std::vector<std::string> arguments = commit_listing(1);
  arguments.insert(arguments.end(), {"--end-of-options", name + "^{commit}", "--"});
  SKEIN_ASSIGN(const Finished asked, sealed_.run(std::move(arguments)));
  std::vector<Commit> commits = parse_commits(asked.out);
  if (!asked.exit.ok() || commits.empty()) return std::nullopt;
  return std::move(commits.front());
}

Result<std::vector<Commit>> Repository::commits(const CommitQuery& query) const {
  std::vector<std::string> arguments = commit_listing(query.limit);
  if (query.since) {
    arguments.push_back("--since=@" + std::to_string(query.since->ms() / 1000));
  }
  arguments.emplace_back("HEAD");
  if (!query.not_in.empty()) {
    SKEIN_TRY(check_revision(query.not_in));
    arguments.push_back("^" + query.not_in);
  }
  arguments.emplace_back("--");
  SKEIN_ASSIGN(const std::string out, sealed_.output(std::move(arguments)));
  return parse_commits(out);
}

Result<std::size_t> Repository::count_commits(const std::string& from,
                                              const std::string& to) const {
  SKEIN_TRY(check_revision(from));
  SKEIN_TRY(check_revision(to));
  SKEIN_ASSIGN(const std::string out,
               sealed_.output({"rev-list", "--count", to, "^" + from, "--"}));
  std::size_t count = 0;
  std::from_chars(out.data(), out.data() + out.size(), count);
  return count;
}

Result<std::vector<std::string>> Repository::files_of(
    const std::vector<std::string>& commits) const {
  std::string input;
  for (const std::string& commit : commits) {
    SKEIN_TRY(check_revision(commit));
    input += commit + "\n";
  }
  SKEIN_ASSIGN(const std::string out,
               sealed_.output({"diff-tree", "--stdin", "--root", "-r", "-m", "--first-parent",
                               "--no-renames", "--no-commit-id", "--name-only", "-z"},
                              {.input = input}));
  std::vector<std::string> files = split_nul(out);
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

Result<std::vector<std::string>> Repository::changed_files(
    const std::vector<std::string>& apart, const SealedRepository::Settings& settings) const {
  if (bare_) return std::vector<std::string>();
  const auto ask = [&](const char* untracked) {
    std::vector<std::string> arguments = {"status",
                                          "--porcelain=v2",
                                          "-z",
                                          std::string("--untracked-files=") + untracked,
                                          "--ignore-submodules=dirty",
                                          "--no-renames",
                                          "--",
                                          ":(top)"};
    for (const std::string& path : apart) arguments.push_back(":(top,exclude,literal)" + path);
    return sealed_.output(std::move(arguments), {.config = settings.config});
  };
  // New folders can hold more files than one answer of git may name.
  auto answer = ask("all");
  if (!answer) answer = ask("normal");
  SKEIN_ASSIGN(const std::string out, std::move(answer));
  std::vector<std::string> files;
  for (const std::string& entry : split_nul(out)) {
    // "1 XY sub mH mI mW hH hI path", "u XY sub m1 m2 m3 mW h1 h2 h3 path", "? path"
    const std::size_t spaces = entry.starts_with("1 ")   ? 8
                               : entry.starts_with("u ") ? 10
                               : entry.starts_with("? ") ? 1
                                                         : 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < spaces && at != std::string::npos; ++i) {
      at = entry.find(' ', at + (i > 0 ? 1 : 0));
    }
    if (spaces > 0 && at != std::string::npos) files.push_back(entry.substr(at + 1));
  }
  return files;
}

Result<RepositoryState> Repository::state(const std::vector<std::string>& apart,
                                          std::chrono::milliseconds submodule_time) const {
  return state(apart, kSubmoduleDepth, std::chrono::steady_clock::now() + submodule_time);
}

Result<RepositoryState> Repository::state(const std::vector<std::string>& apart, std::size_t depth,
                                          Deadline deadline) const {
  RepositoryState state;
  SKEIN_ASSIGN(state.branch, branch());
  SKEIN_ASSIGN(state.head, commit("HEAD"));
  SKEIN_ASSIGN(const SealedRepository::Settings settings, sealed_.settings());
  state.remote_url = without_credentials(mended_utf8(settings.remote_url));
  SKEIN_ASSIGN(state.changed_files, changed_files(apart, settings));
  SKEIN_TRY(add_submodules(depth, deadline, state));
  return state;
}

// Git would ask a submodule with the submodule's own configuration, so each is asked here instead.
Result<void> Repository::add_submodules(std::size_t depth, Deadline deadline,
                                        RepositoryState& state) const {
  if (bare_ || depth == 0) return {};
  SKEIN_ASSIGN(const std::vector<std::string> paths, submodules(sealed_));
  for (const std::string& path : paths) {
    if (std::chrono::steady_clock::now() >= deadline) {
      state.not_examined.push_back(path);
      continue;
    }
    const std::string folder = root_ + "/" + path;
    if (!is_real_folder(folder)) continue;
    const auto submodule = find(folder);
    if (!submodule || !*submodule || (*submodule)->root() != folder) continue;
    const auto inner = (*submodule)->state({}, depth - 1, deadline);
    if (!inner) continue;
    for (const std::string& file : inner->changed_files) {
      state.changed_files.push_back(path + "/" + file);
    }
    for (const std::string& inner_path : inner->not_examined) {
      state.not_examined.push_back(path + "/" + inner_path);
    }
  }
  return {};
}

std::string not_examined_text(const RepositoryState& state) {
  if (state.not_examined.empty()) return {};
  const std::size_t count = state.not_examined.size();
  const std::string first = quote(state.not_examined.front(), 200);
  return (count == 1 ? "submodule " + first + " was not examined for changes"
                     : std::to_string(count) + " submodules were not examined for changes, the " +
                           "first of them " + first) +
         ": git took too long";
}

Result<std::vector<std::string>> Repository::changed_since(
    const std::string& commit, const std::vector<std::string>& files) const {
  SKEIN_TRY(check_revision(commit));
  if (bare_ || files.empty()) return std::vector<std::string>();
  std::vector<std::string> arguments = {"diff",
                                        "--no-ext-diff",
                                        "--no-textconv",
                                        "--no-renames",
                                        "--ignore-submodules=dirty",
                                        "--name-only",
                                        "-z",
                                        commit,
                                        "--"};
  for (const std::string& file : files) arguments.push_back(":(top,literal)" + file);
  SKEIN_ASSIGN(const SealedRepository::Settings settings, sealed_.settings());
  SKEIN_ASSIGN(const std::string out,
               sealed_.output(std::move(arguments), {.config = settings.config}));
  return split_nul(out);
}

std::string without_credentials(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return std::string(url);
  const std::string_view scheme = url.substr(0, scheme_end + 3);
  std::string_view rest = url.substr(scheme.size());
  rest = rest.substr(0, rest.find_first_of("?#"));

  std::string_view authority = rest.substr(0, rest.find('/'));
  // A password with a slash in it hides the real end; a port has digits only.
  const std::size_t colon = authority.rfind(':');
  const bool odd = colon != std::string_view::npos &&
                   authority.find_first_not_of("0123456789", colon + 1) != std::string_view::npos;
  if (odd && authority.find('@') == std::string_view::npos) authority = rest;

  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return std::string(scheme) + std::string(rest);
  // The user of ssh is part of the address; elsewhere it may be a token.
  const std::string_view user = rest.substr(0, std::min(at, rest.find(':')));
  const bool keep_user = scheme == "ssh://" || scheme == "git+ssh://";
  return std::string(scheme) + (keep_user ? std::string(user) + "@" : "") +
         std::string(rest.substr(at + 1));
}

}  // namespace skein
