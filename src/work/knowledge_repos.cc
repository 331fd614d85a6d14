#include "work/knowledge_repos.h"

#include <algorithm>
#include <filesystem>

#include "core/file.h"
#include "core/path_inside.h"
#include "core/quote.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFound = 32;

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
      : options_(options), workspace_(resolved(options.workspace)) {}

  std::vector<KnowledgeRepository> run() {
    for (const auto& [name, folder] : options_.knowledge_repos) add_named(name, folder);
    const fs::path root(options_.workspace);
    for (const char* shelf : {"knowledge/public", "knowledge/private"}) {
      for (const fs::path& folder : folders_in(root / shelf)) add_found(folder, "");
    }
    for (const fs::path& company : folders_in(root / "companies")) {
      add_found(company / "knowledge", company.filename().string());
    }
    return std::move(found_);
  }

 private:
  void add_named(const std::string& name, const std::string& folder) {
    const fs::path place = fs::path(options_.workspace) / folder;
    auto repository = Repository::find(place.string());
    if (!repository) return skip(name, repository.error().message);
    if (!*repository) return skip(name, place.string() + " is in no repository");
    if ((*repository)->root() != resolved(place).string() && !(*repository)->bare()) {
      return skip(name, place.string() + " has no .git of its own; it is a folder of " +
                            (*repository)->root());
    }
    found_.push_back({name, std::move(**repository)});
  }

  void add_found(const fs::path& folder, const std::string& company) {
    const fs::path place = resolved(folder);
    if (place.empty() || !is_inside(place, workspace_) || looked_at_++ >= kMostFound) return;
    std::error_code error;
    if (!fs::exists(place / ".git", error)) return;
    auto repository = Repository::find(place.string());
    if (!repository || !*repository || (*repository)->root() != place.string()) return;
    const bool known = std::any_of(found_.begin(), found_.end(), [&](const auto& other) {
      return other.repository.root() == (*repository)->root();
    });
    if (known) return;
    std::string name = place.filename().string();
    if (name == "knowledge") name += "-" + company;
    found_.push_back({mended_utf8(name), std::move(**repository)});
  }

  void skip(const std::string& name, const std::string& why) const {
    if (options_.notice) options_.notice("knowledge repository " + name + ": " + why);
  }

  const CheckpointsOptions& options_;
  const fs::path workspace_;
  std::vector<KnowledgeRepository> found_;
  std::size_t looked_at_ = 0;
};

}  // namespace

std::vector<KnowledgeRepository> knowledge_repositories(const CheckpointsOptions& options) {
  return Finder(options).run();
}

}  // namespace skein
