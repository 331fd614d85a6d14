#include "api/hooks.h"

#include <fmt/format.h>

#include <cstdlib>

#include "api/checkpoint_answers.h"
#include "api/checkpoints.h"
#include "api/work/answers.h"
#include "api/work/place.h"
#include "core/file.h"
#include "core/json_object.h"
#include "core/own_folder.h"
#include "core/quote.h"
#include "core/try.h"
#include "skein/work_sessions.h"
#include "work/hook_install.h"
#include "work/hooks.h"

namespace skein {
namespace {

constexpr std::uint64_t kMaxLogBytes = std::uint64_t{1} << 20;

// Of two files with what went wrong, the newer one grows to a limit and becomes the older one then.
class HookLog {
 public:
  HookLog(const Settings& settings, HookName name)
      : workspace_(settings.workspace.string()), name_(name) {}

  void write(const std::string& message) const {
    Flusher unflushed(false);
    const std::string path = workspace_ + "/.skein/hook.log";
    if (!make_own_folder(workspace_, unflushed)) return;
    const auto stamp = stat_file(path);
    if (stamp && *stamp && (*stamp)->size > kMaxLogBytes) {
      std::error_code ignored;
      std::filesystem::rename(path, path + ".1", ignored);
    }
    const auto fd = open_file(path, O_WRONLY | O_APPEND | O_CREAT);
    if (!fd) return;
    (void)write_append(
        *fd, path,
        fmt::format("{} {} {}\n", system_clock().now().str(), word(), quote(message, 2000)));
  }

 private:
  const char* word() const {
    switch (name_) {
      case HookName::kPostToolUse:
        return "post-tool-use";
      case HookName::kSessionStart:
        return "session-start";
      case HookName::kSessionEnd:
        return "session-end";
      case HookName::kStop:
        return "stop";
    }
    return "";
  }

  const std::string workspace_;
  const HookName name_;
};

// Lets the commands that the agent runs in this session know which one it is.
Result<void> export_session(const std::string& session) {
  const char* file = std::getenv("CLAUDE_ENV_FILE");
  if (file == nullptr || *file == '\0') return {};
  SKEIN_ASSIGN(const Fd fd, open_file(file, O_WRONLY | O_APPEND | O_CREAT));
  return write_append(fd, file, "export SKEIN_SESSION=" + shell_quoted(session) + "\n");
}

// The agent's session becomes a working session: it begins with what is open, and its end stores
// that for the next one, here or on another machine.
Result<std::string> begin_working_session(const Settings& settings, const std::string& session) {
  SKEIN_ASSIGN(auto store, open_settled_store(settings, IfMissing::kCreate));
  WorkSessions sessions(*store, work_place(settings), system_clock(), random_ids());
  StartSession request;
  request.agent = settings.default_agent;
  request.session_id = session;
  SKEIN_ASSIGN(const StartedSession started, sessions.start(request));
  return session_start_for_model(started);
}

Result<void> end_working_session(const Settings& settings, const std::string& session) {
  if (!store_exists(settings.store_url)) return {};
  SKEIN_ASSIGN(auto store, open_settled_store(settings, IfMissing::kRefuse));
  WorkSessions sessions(*store, work_place(settings), system_clock(), random_ids());
  CloseSession request;
  request.session_id = session;
  const auto closed = sessions.close(request);
  // Never begun, or closed by the agent itself.
  const bool fine = closed || closed.error().code == ErrorCode::kNotFound ||
                    closed.error().code == ErrorCode::kConflict;
  return fine ? Result<void>() : tl::unexpected(closed.error());
}

std::string last_checkpoint_text(const Settings& settings) {
  auto resumed = resume_checkpoint(settings, "");
  if (!resumed) return {};
  resumed->open_items.clear();  // the working session tells them
  return "\nThe last checkpoint.\n" + resumed_for_model(*resumed);
}

std::string greeting(const std::string& context) {
  const std::string specific =
      JsonObject().add("hookEventName", "SessionStart").add("additionalContext", context).str();
  return JsonObject().add_json("hookSpecificOutput", specific).str() + "\n";
}

Result<std::string> start_session(const Settings& settings, Hooks& hooks, const HookEvent& event,
                                  const HookLog& log) {
  if (const auto valid = check_session_id(event.session_id); !valid) {
    log.write(valid.error().message);
  } else {
    SKEIN_TRY(export_session(event.session_id));
  }
  SKEIN_TRY(hooks.session_start(event));
  auto begun = begin_working_session(settings, event.session_id);
  if (!begun) log.write(begun.error().message);
  const std::string context = begun.value_or("") + last_checkpoint_text(settings);
  return context.empty() ? std::string() : greeting(context);
}

Result<std::string> act(const Settings& settings, HookName name, std::string_view told,
                        const HookLog& log) {
  SKEIN_ASSIGN(const HookEvent event, parse_hook_event(told));
  Checkpoints checkpoints =
      workspace_checkpoints(settings, [&log](const std::string& message) { log.write(message); });
  Hooks hooks(checkpoints);
  switch (name) {
    case HookName::kPostToolUse:
      SKEIN_TRY(hooks.post_tool_use(event));
      return std::string();
    case HookName::kSessionStart:
      return start_session(settings, hooks, event, log);
    case HookName::kSessionEnd:
      SKEIN_TRY(hooks.session_end(event));
      SKEIN_TRY(end_working_session(settings, event.session_id));
      return std::string();
    case HookName::kStop:
      SKEIN_TRY(hooks.stop(event));
      return std::string();
  }
  return std::string();
}

}  // namespace

std::string run_hook(const Settings& settings, HookName name, std::string_view told) {
  const HookLog log(settings, name);
  auto answer = act(settings, name, told, log);
  if (answer) return std::move(*answer);
  log.write(answer.error().message);
  return {};
}

Result<FileChange> plan_hooks(const Settings& settings, const std::string& program) {
  return plan_change(
      settings.workspace / ".claude" / "settings.json",
      [&program](std::string_view before) { return with_hooks(before, shell_quoted(program)); });
}

}  // namespace skein
