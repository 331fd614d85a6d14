#include "api/transfer/thread_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/transfer/carry.h"
#include "api/transfer/folders/folder_kind.h"
#include "core/json.h"
#include "core/try.h"
#include "skein/limits.h"
#include "store/line.h"

namespace skein {
namespace {

// The value of a member of a JSON object; of repeated ones the last. Nothing, if `text` is no
// object.
std::optional<std::string> member_of(std::string_view text, std::string_view name) {
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  if (!validate_json(text, "line", kMaxDocumentDepth) || !reader.read(text, members))
    return std::nullopt;
  std::optional<std::string> found;
  for (const JsonMember& member : members) {
    if (member.name == name) found = std::string(member.value);
  }
  return found;
}

// In a workspace of Nova's newer layout all agents share one threads/. A hidden folder (~/.nova) is
// no agent's either.
bool is_shared(const std::filesystem::path& folder) {
  if (folder.filename().string().starts_with('.')) return true;
  const SourceFolder source(folder);
  return folder.parent_path().filename() != "agents" && !source.has("agent.json") &&
         kind_of_folder(source).nova;
}

// Whose a thread is by where its file lies: the agent's of <agent>/threads/, and nobody's ("") in
// threads/ of a workspace. Nothing: the place does not say.
std::optional<std::string> agent_of(const std::filesystem::path& path) {
  const auto folder = std::filesystem::absolute(path).lexically_normal().parent_path();
  if (folder.filename() != "threads") return std::nullopt;
  if (is_shared(folder.parent_path())) return "";
  std::string agent = folder.parent_path().filename().string();
  if (!check_agent_id(agent)) return std::nullopt;
  return agent;
}

}  // namespace

ThreadFile::ThreadFile(std::filesystem::path path, LineFile file, Report report)
    : path_(std::move(path)), report_(std::move(report)), file_(std::move(file)) {}

ThreadFile::~ThreadFile() = default;

Result<std::unique_ptr<ThreadFile>> ThreadFile::open(const std::filesystem::path& path,
                                                     Report report) {
  SKEIN_ASSIGN(LineFile file, LineFile::open(path));
  return std::unique_ptr<ThreadFile>(new ThreadFile(path, std::move(file), std::move(report)));
}

void ThreadFile::problem(std::string message) {
  report_({path_, line_.number, std::move(message)});
}

// In a sequence every event says its position, and every manifest its id.
bool ThreadFile::begins_thread(std::string_view text) {
  if (!sequence_ || check_frame(text) == Frame::kVerified) return false;
  return member_of(text, "threadId") && !member_of(text, kSeqField);
}

Result<Manifest> ThreadFile::read_head(std::string_view text) {
  const auto damaged = [&](const std::string& message) {
    return fail(ErrorCode::kDamaged,
                fmt::format("{}:{}: {}", path_.string(), line_.number, message));
  };
  if (line_.too_long) return damaged("the manifest is too long");
  std::vector<std::string_view> store_fields = {"threadId"};
  if (check_frame(text) == Frame::kVerified) {
    store_fields.insert(store_fields.end(), {kManifestVersionField, kChecksumField});
  }
  auto manifest = read_manifest(text, store_fields, AgentField::kOptional);
  if (!manifest) return damaged(manifest.error().message);
  if (manifest->agent_id.empty()) {
    auto agent = agent_of(path_);
    if (!agent) return damaged("manifest: agentId must be a string, got nothing");
    manifest->agent_id = std::move(*agent);
  }

  const auto said = member_of(text, "threadId");
  if (first_) sequence_ = said.has_value();
  const std::string name = said ? json_to_string(*said).value_or(*said) : path_.stem().string();
  auto id = ThreadId::parse(name);
  if (!id) return damaged("whose thread is it? " + id.error().message);
  manifest->id = *id;
  return std::move(*manifest);
}

Result<bool> ThreadFile::next_thread(Manifest& manifest) {
  while (!held_) {
    SKEIN_ASSIGN(const bool more, file_.next(line_));
    if (!more) return false;
    held_ = first_ || begins_thread(line_.text);
  }
  held_ = false;
  SKEIN_ASSIGN(manifest, read_head(line_.text));
  first_ = false;
  in_file_ = 0;
  gaps_.clear();
  last_time_ = manifest.created_at;
  return true;
}

bool ThreadFile::read_event(Event& event) {
  if (line_.too_long) {
    problem(fmt::format("longer than the limit of {} bytes", limits::kMaxEventBytes));
    return false;
  }
  const Frame frame = check_frame(line_.text);
  if (frame == Frame::kDamaged) {
    problem("does not match its checksum");
    return false;
  }
  const bool ours = frame == Frame::kVerified;
  (void)reader_.read(line_.text, ours ? EventSource::kLine : EventSource::kForeign, event);
  if (const auto* unreadable = std::get_if<Unreadable>(&event.payload)) {
    problem(line_.complete ? unreadable->reason : unreadable->reason + " (the line was cut off)");
    return false;
  }
  if (ours && event.seq > in_file_) {
    leave_out(in_file_, event.seq - 1);
    in_file_ = event.seq;
  }
  if (ours && event.base) event.base = position_of(*event.base);
  event.seq = 0;
  if (!event.timestamp.is_set()) event.timestamp = last_time_;
  rename_taken_fields(event.extra);
  if (auto valid = validate(event); !valid) {
    problem(valid.error().message);
    return false;
  }
  last_time_ = event.timestamp;
  return true;
}

Result<bool> ThreadFile::next_event(Event& event) {
  while (!held_) {
    SKEIN_ASSIGN(const bool more, file_.next(line_));
    if (!more) return false;
    held_ = begins_thread(line_.text);
    if (held_) return false;
    ++in_file_;
    if (read_event(event)) return true;
    leave_out(in_file_, in_file_);
  }
  return false;
}

void ThreadFile::leave_out(Seq first, Seq last) {
  if (!gaps_.empty() && gaps_.back().last + 1 == first) {
    gaps_.back().last = last;
  } else {
    gaps_.push_back({first, last});
  }
}

Seq ThreadFile::position_of(Seq in_file) const {
  Seq left_out = 0;
  for (const Gap& gap : gaps_) {
    if (in_file < gap.first) break;
    if (in_file <= gap.last) return gap.first - 1 - left_out;
    left_out += gap.last - gap.first + 1;
  }
  return in_file - left_out;
}

}  // namespace skein
