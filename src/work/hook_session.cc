#include "work/hook_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/checksum.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/own_folder.h"
#include "core/try.h"
#include "skein/checkpoints.h"

namespace skein {
namespace {

constexpr std::size_t kMaxSessionBytes = std::size_t{1} << 20;
constexpr std::int64_t kDayMs = 86'400'000;

std::string to_json(const HookSession& session) {
  std::vector<std::string> heads;
  for (const HookSession::Head& head : session.heads) {
    heads.push_back(JsonObject()
                        .add("root", head.root)
                        .add("initial", head.initial)
                        .add("last", head.last)
                        .str());
  }
  JsonObject object;
  object.add("session_id", session.id).add("started_at", session.started_at.str());
  object.add("seen_at", session.seen_at.str());
  if (session.ended_at) object.add("ended_at", session.ended_at->str());
  object.add_json("heads", json_array_of(heads));
  object.add("last_auto", session.last_auto);
  if (session.last_auto_at) object.add("last_auto_at", session.last_auto_at->str());
  object.add("files", session.files);
  object.add("created_files", session.created_files);
  return object.str() + "\n";
}

std::optional<std::vector<HookSession::Head>> to_heads(RawJson value) {
  std::vector<HookSession::Head> heads;
  for (const RawJson element : json_elements(value)) {
    JsonFields fields(element);
    heads.push_back({fields.take_string("root").value_or(""),
                     fields.take_string("initial").value_or(""),
                     fields.take_string("last").value_or("")});
  }
  return heads;
}

// Nothing for what is no session of ours: a new one is begun then.
std::optional<HookSession> parse_session(const std::string& text) {
  const auto document = Json::parse_object(text);
  if (!document) return std::nullopt;
  JsonFields fields(document->text());
  HookSession session;
  session.id = fields.take_string("session_id").value_or("");
  const auto started = fields.take_time("started_at");
  const auto seen = fields.take_time("seen_at");
  if (session.id.empty() || !started || !seen) return std::nullopt;
  session.started_at = *started;
  session.seen_at = *seen;
  session.ended_at = fields.take_time("ended_at");
  session.heads = fields.take<std::vector<HookSession::Head>>("heads", to_heads)
                      .value_or(std::vector<HookSession::Head>());
  session.last_auto = fields.take_string("last_auto").value_or("");
  session.last_auto_at = fields.take_time("last_auto_at");
  session.files = fields.take_strings("files").value_or(std::vector<std::string>());
  session.created_files = fields.take_bool("created_files").value_or(false);
  return session;
}

Result<std::optional<HookSession>> read_session(const std::string& path) {
  SKEIN_ASSIGN(const auto text, read_file(path, kMaxSessionBytes));
  return text ? parse_session(*text) : std::nullopt;
}

bool is_plain_name(const std::string& id) {
  return !id.empty() && id.size() <= 100 && id[0] != '.' &&
         std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

HookSession::Head* HookSession::head(const std::string& root) {
  const auto found = std::find_if(heads.begin(), heads.end(),
                                  [&root](const Head& head) { return head.root == root; });
  return found == heads.end() ? nullptr : &*found;
}

void HookSession::touch(const std::string& file) {
  if (files.size() >= limits::kMaxCheckpointItems) return;
  if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
}

HookSessions::HookSessions(std::string workspace)
    : workspace_(std::move(workspace)), folder_(workspace_ + "/.skein/hooks") {}

std::string HookSessions::file_of(const std::string& id) const {
  if (is_plain_name(id)) return folder_ + "/" + id + ".json";
  return fmt::format("{}/x-{:08x}{:08x}.json", folder_, checksum(id), checksum(id, 1));
}

Result<HookSessions::Open> HookSessions::open(const std::string& id, Timestamp now) {
  Flusher unflushed(false);
  SKEIN_TRY(make_own_folder(workspace_, unflushed));
  SKEIN_TRY(make_folders(folder_, unflushed));
  Open open;
  open.path_ = file_of(id);
  const std::string lock_path = folder_ + "/lock";
  SKEIN_ASSIGN(open.lock_file_, open_file(lock_path, O_RDWR | O_CREAT));
  SKEIN_ASSIGN(open.lock_,
               FileLock::acquire(open.lock_file_.get(), checksum(id), LockMode::kExclusive));
  SKEIN_ASSIGN(auto known, read_session(open.path_));
  open.fresh = !known || known->id != id;
  if (open.fresh) {
    open.session.id = id;
    open.session.started_at = now;
    open.session.seen_at = now;
  } else {
    open.session = std::move(*known);
  }
  return open;
}

// What is lost in a power cut is only what the hooks remember.
Result<void> HookSessions::Open::save() {
  Flusher unflushed(false);
  return replace_file(path_, to_json(session), unflushed);
}

Result<std::optional<HookSession>> HookSessions::find(const std::string& id) const {
  SKEIN_ASSIGN(auto session, read_session(file_of(id)));
  if (session && session->id != id) return std::nullopt;
  return session;
}

Result<std::optional<HookSession>> HookSessions::newest_open(Timestamp now) const {
  std::optional<HookSession> newest;
  SKEIN_ASSIGN(const auto names, list_folder(folder_));
  for (const std::string& name : names) {
    if (!name.ends_with(".json")) continue;
    auto session = read_session(folder_ + "/" + name);
    if (!session || !*session || (*session)->ended_at) continue;
    if (now.ms() - (*session)->seen_at.ms() > kDayMs) continue;
    if (!newest || (*session)->seen_at > newest->seen_at) newest = std::move(**session);
  }
  return newest;
}

Result<std::size_t> HookSessions::forget_before(Timestamp time) {
  std::size_t forgotten = 0;
  SKEIN_ASSIGN(const auto names, list_folder(folder_));
  for (const std::string& name : names) {
    if (!name.ends_with(".json")) continue;
    const std::string path = folder_ + "/" + name;
    const auto session = read_session(path);
    if (session && *session && (*session)->seen_at >= time) continue;
    SKEIN_ASSIGN(const bool removed, remove_file(path));
    if (removed) ++forgotten;
  }
  return forgotten;
}

}  // namespace skein
