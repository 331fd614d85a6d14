#include "work/knowledge_repos.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>

#include "core/file.h"
#include "core/path_inside.h"
#include "core/quote.h"
#include "core/try.h"
#include "core/visible.h"
#include "git/repository.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFound = 32;
// For all of them together; each command of git has a limit of its own.
constexpr std::int64_t kLongestMs = 10'000;

// The folder or the target of the link, with links resolved; empty: there is none.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path canonical = fs::canonical(path, error);
  return error || !fs::is_directory(canonical, error) ? fs::path() : canonical;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  const auto names = list_folder(folder.string());
  if (!names) return found;
  for (const std::string& name : *names) {
    if (!name.starts_with('.')) found.push_back(folder / name);
  }
  return found;
}

class Finder {
 public:
  explicit Finder(const CheckpointsOptions& options)
      : options_(options),
        workspace_(resolved(options.workspace)),
        deadline_(options.clock->boot_ms() + kLongestMs) {}

  std::vector<CheckpointGit::Knowledge> run() {
    for (const auto& [name, folder] : options_.knowledge_repos) add_named(name, folder);
    const fs::path root(options_.workspace);
    for (const char* shelf : {"knowledge/public", "knowledge/private"}) {
      for (const fs::path& folder : folders_in(root / shelf)) add_found(folder, "");
    }
    for (const fs::path& company : folders_in(root / "companies")) {
      add_found(company / "knowledge", company.filename().string());
    }
    if (!late_.empty()) {
      tell(fmt::format("left out, as knowledge repositories took longer than {} s: {}",
                       kLongestMs / 1000, late_));
    }
    return std::move(found_);
  }

 private:
  // Several names may stand for one folder, which is looked at once.
  void add_named(const std::string& name, const std::string& folder) {
    std::error_code error;
    const fs::path place = fs::weakly_canonical(fs::path(options_.workspace) / folder, error);
    if (error) return skip(name, error.message());
    if (const auto known = states_.find(place); known != states_.end()) {
      if (known->second) found_.push_back({name, *known->second});
      return;
    }
    if (is_late(name)) return;
    const auto state = look(name, place);
    if (!state) skip(name, state.error().message);
  }

  void add_found(const fs::path& folder, const std::string& company) {
    const fs::path place = resolved(folder);
    if (place.empty() || !is_inside(place, workspace_) || looked_at_++ >= kMostFound) return;
    std::error_code error;
    if (!fs::exists(place / ".git", error) || states_.contains(place)) return;
    std::string name = place.filename().string();
    if (name == "knowledge") name += "-" + company;
    name = mended_utf8(name);
    if (is_late(name)) return;
    const auto state = look(name, place);
    if (!state && state.error().code == ErrorCode::kBusy) skip(name, state.error().message);
  }

  Result<void> look(const std::string& name, const fs::path& place) {
    auto state = state_of(place);
    states_.emplace(place, state ? std::optional(*state) : std::nullopt);
    if (!state) return tl::unexpected(state.error());
    found_.push_back({name, std::move(*state)});
    return {};
  }

  static Result<Json> state_of(const fs::path& place) {
    const std::string shown = visible_line(place.string());
    SKEIN_ASSIGN(const auto repository, Repository::find(place.string()));
    if (!repository) return fail(ErrorCode::kNotFound, shown + " is in no repository");
    if (repository->root() != place.string() && !repository->bare()) {
      return fail(ErrorCode::kInvalid, shown + " has no .git of its own; it is a folder of " +
                                           visible_line(repository->root()));
    }
    SKEIN_ASSIGN(const RepositoryState state, repository->state());
    std::string json = "{ \"commit\": \"";
    json += state.head ? state.head->short_id : "";
    json += state.dirty() ? "\", \"dirty\": true }" : "\", \"dirty\": false }";
    return Json::trusted(std::move(json));
  }

  bool is_late(const std::string& name) {
    if (options_.clock->boot_ms() < deadline_) return false;
    late_ += (late_.empty() ? "" : ", ") + quote(name);
    return true;
  }

  void skip(const std::string& name, const std::string& why) const {
    tell("knowledge repository " + quote(name) + ": " + why);
  }
  void tell(const std::string& message) const {
    if (options_.notice) options_.notice(message);
  }

  const CheckpointsOptions& options_;
  const fs::path workspace_;
  const std::int64_t deadline_;
  std::map<fs::path, std::optional<Json>> states_;  // by folder; nothing: it has none
  std::vector<CheckpointGit::Knowledge> found_;
  std::size_t looked_at_ = 0;
  std::string late_;  // names
};

}  // namespace

std::vector<CheckpointGit::Knowledge> knowledge_states(const CheckpointsOptions& options) {
  return Finder(options).run();
}

}  // namespace skein
