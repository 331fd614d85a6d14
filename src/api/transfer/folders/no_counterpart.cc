#include "api/transfer/folders/no_counterpart.h"

#include <array>
#include <filesystem>

#include "core/json_array.h"
#include "core/json_fields.h"

namespace skein {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20;
constexpr std::string_view kNoCounterpart = "no counterpart";
constexpr std::string_view kDerived = "derived; skein backfill makes its own";

void count(const FolderImport& import, std::string_view kind, std::string_view reason,
           std::uint64_t number) {
  import.report.left_out(kind, reason, LeftOut::kExpected, number);
}

// The entries of a file with a JSON array, or with an object that has the array as `member`; a file
// that cannot be read counts as one.
std::uint64_t entries_of(const FolderImport& import, const std::string& file,
                         std::string_view member = {}) {
  const auto text = import.source.read_json(file, kMaxFileBytes);
  if (!text) return 1;
  if (!*text) return 0;
  if (member.empty()) return json_elements(trim_json(**text)).size();
  JsonFields fields(**text);
  return json_elements(fields.take(member, json_to_array).value_or("[]")).size();
}

std::uint64_t files_in(const FolderImport& import, const std::string& folder,
                       std::string_view ending) {
  std::uint64_t files = 0;
  for (const std::string& name : import.source.names(folder)) files += name.ends_with(ending);
  return files;
}

// A folder of programs and their files may be large; workers do not lie deeper.
std::uint64_t workers_in(const SourceFolder& source, const std::string& folder, int depth) {
  std::uint64_t workers = source.has(folder + "/worker.yaml") ? 1 : 0;
  if (depth == 0) return workers;
  for (const std::string& name : source.names(folder)) {
    const std::string below = folder + "/" + name;
    if (source.is_folder(below)) workers += workers_in(source, below, depth - 1);
  }
  return workers;
}

}  // namespace

void count_nova_rest(const FolderImport& import) {
  const SourceFolder& source = import.source;
  count(import, "memories", kNoCounterpart, entries_of(import, "memories.json"));
  count(import, "secrets", "names only; their values are in the system's keyring",
        entries_of(import, "secrets.json"));
  count(import, "bots", "Telegram is set up anew, with its token in the environment",
        source.has("telegram.json") ? 1 : 0);
  count(import, "settings", kNoCounterpart, source.has("settings.json") ? 1 : 0);
  std::uint64_t skills = 0;
  for (const std::string& name : source.names("skills")) {
    skills += source.is_folder("skills/" + name) ? 1 : 0;
  }
  count(import, "skills", kNoCounterpart, skills);
  std::uint64_t notes = 0;
  std::uint64_t vectors = files_in(import, "threads/embeddings", ".jsonl");
  for (const std::string& agent : source.names("agents")) {
    notes += files_in(import, "agents/" + agent + "/notes", ".md");
    vectors += source.has("agents/" + agent + "/embeddings.jsonl") ? 1 : 0;
  }
  count(import, "notes", kNoCounterpart, notes);
  count(import, "embeddings (files)", kDerived, vectors);
}

void count_gitmem_rest(const FolderImport& import, const std::string& folder) {
  const std::string prefix = folder.empty() ? "" : folder + "/";
  constexpr std::array<std::pair<const char*, const char*>, 4> kLists = {
      {{"learnings", "learnings.json"},
       {"decisions", "decisions.json"},
       {"usage of learnings", "scar_usage.json"},
       {"suggestions", "suggested-threads.json"}}};
  for (const auto& [kind, file] : kLists) {
    count(import, kind, kNoCounterpart, entries_of(import, prefix + file));
  }
  count(import, "sessions", "still open there; close them first",
        entries_of(import, prefix + "active-sessions.json", "sessions"));
}

void count_hq_rest(const FolderImport& import) {
  constexpr int kDepth = 3;
  std::uint64_t workers = workers_in(import.source, "workers", kDepth) +
                          workers_in(import.source, "core/workers", kDepth);
  for (const std::string& company : import.source.names("companies")) {
    workers += workers_in(import.source, "companies/" + company + "/workers", kDepth);
  }
  count(import, "workers", "no counterpart; skein agent add makes an agent of a prompt", workers);
}

}  // namespace skein
