#include <fmt/format.h>

#include <iostream>
#include <iterator>

#include "api/work/answers.h"
#include "api/work/place.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "core/file.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/try.h"
#include "skein/limits.h"

namespace skein {
namespace {

class Start : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "start",
        .summary = "begin a working session with what is open",
        .examples =
            "  skein session start\n"
            "  skein session start --agent claude --project billing --json\n"
            "  skein session start --carry-from c2d841be-fff2-4ac9-ae1e-4d604e2e4d69\n",
        .details =
            "Merges the items of the project's last five sessions, at most 14 days old, into "
            ".gitmem/threads.json, and\nprints what is open, the project's state, what the last "
            "session ended with, what changed in the\nrepository since, and sessions of the last "
            "24 "
            "hours that were never closed. A session that is known is gone on with.\nThe project "
            "of a workspace is the "
            "one "
            "in its configuration, else the name of the repository that it was\ncloned from, else "
            "\"default\"."};
  }

  std::vector<Argument> arguments() override {
    return {
        {.names = "--agent",
         .value_name = "A",
         .help = "who works (default: defaultAgent of the configuration, else \"default\")",
         .set = into(agent_)},
        {.names = "--project",
         .value_name = "P",
         .help = "what on (default: that of the workspace)",
         .set = into(request_.project)},
        {.names = "--session",
         .value_name = "ID",
         .help = "the session's id (default: a new UUID)",
         .set = into(request_.session_id)},
        {.names = "--carry-from",
         .value_name = "ID",
         .help = "also take the items of this closed session, however old it is",
         .set = into(request_.carry_from)},
    };
  }

  Outcome run(Context& context) override {
    const Stopwatch watch;
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN_OR_FAIL(auto store, context.open(IfMissing::kCreate));
    request_.agent = agent_.value_or(settings.default_agent);
    if (auto valid = check_agent_id(request_.agent); !valid) {
      return wrong_usage(std::move(valid).error().message);
    }
    WorkSessions sessions(*store, work_place(settings), system_clock(), random_ids());
    SKEIN_ASSIGN(const StartedSession started, sessions.start(request_));
    if (context.json()) {
      context.out().write(session_start_answer(started, watch) + "\n");
    } else {
      context.out().write_stored(session_start_text(started));
    }
    return kExitDone;
  }

 private:
  std::optional<std::string> agent_;
  StartSession request_;
};

class Close : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "close",
        .summary = "end a working session, and store what is open still",
        .examples =
            "  skein session close --summary \"Release done\" --open \"Announce it\"\n"
            "  skein session close --payload closing.json --json\n"
            "  skein session close --session c2d841be-fff2-4ac9-ae1e-4d604e2e4d69\n"
            "  skein session close --stale\n",
        .details =
            "The payload is a JSON object with any of session_id, summary, decisions, "
            "learnings, project_state and\nopen_threads, whose entries are texts or items; "
            "{\"id\", \"status\": \"resolved\"} resolves one. What is given\nbesides is added "
            "to it. Members that Skein does not know are stored with the session and reported."};
  }

  std::vector<Argument> arguments() override {
    return {
        {.names = "--session",
         .value_name = "ID",
         .help = "which session (SKEIN_SESSION; default the newest open one here)",
         .set = into(session_)},
        {.names = "--summary", .value_name = "S", .help = "what was done", .set = into(summary_)},
        {.names = "--decision",
         .value_name = "D",
         .help = "what was decided; may be given again",
         .set = into(decisions_),
         .repeated = true},
        {.names = "--learning",
         .value_name = "L",
         .help = "what was learned; may be given again",
         .set = into(learnings_),
         .repeated = true},
        {.names = "--open",
         .value_name = "TEXT",
         .help = "what is open still; may be given again",
         .set = into(open_),
         .repeated = true},
        {.names = "--project-state",
         .value_name = "STATE",
         .help = "the state of the project: \"Skein: OD-1done OD-2->write tests\"",
         .set = into(project_state_)},
        {.names = "--stale",
         .help = "close all sessions of this workspace that were started more than 24 hours ago",
         .set = into(stale_)},
        {.names = "--payload",
         .value_name = "FILE",
         .help = "all of this as JSON; - reads standard input",
         .set = into(payload_),
         .is_path = true},
    };
  }

  Outcome run(Context& context) override {
    if (stale_) return close_stale(context);
    const Stopwatch watch;
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN(const CloseSession request, complete_request());
    SKEIN_ASSIGN_OR_FAIL(auto store, context.open(IfMissing::kCreate));
    WorkSessions sessions(*store, work_place(settings), system_clock(), random_ids());
    SKEIN_ASSIGN(const ClosedSession closed, sessions.close(request));
    for (const std::string& warning : closed.warnings) print_notice(warning);
    if (context.json()) {
      context.out().write(session_close_answer(closed, watch) + "\n");
    } else {
      context.out().write(closed_line(closed));
    }
    return kExitDone;
  }

 private:
  static std::string closed_line(const ClosedSession& closed) {
    return fmt::format("closed {}: {} open, {} new, {} resolved\n", closed.session.id,
                       closed.open_items.size(), closed.created, closed.resolved);
  }

  Outcome close_stale(Context& context) const {
    if (session_ || summary_ || payload_ || !project_state_.empty() || !decisions_.empty() ||
        !learnings_.empty() || !open_.empty()) {
      return wrong_usage("--stale closes several sessions and takes no other argument");
    }
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN_OR_FAIL(auto store, context.open(IfMissing::kCreate));
    WorkSessions sessions(*store, work_place(settings), system_clock(), random_ids());
    const Timestamp before{system_clock().now().us - kStaleSessionUs};
    SKEIN_ASSIGN(const auto closed, sessions.close_unclosed(before));
    if (context.json()) {
      context.out().write(closed_sessions_answer(closed) + "\n");
      return kExitDone;
    }
    for (const ClosedSession& one : closed) context.out().write(closed_line(one));
    context.out().write(fmt::format("{} closed\n", closed.size()));
    return kExitDone;
  }

  Result<CloseSession> complete_request() {
    CloseSession request;
    if (payload_) {
      SKEIN_ASSIGN(const std::string json, read_payload());
      SKEIN_ASSIGN(request, CloseSession::parse(json));
    }
    if (session_ || !request.session_id) request.session_id = session_of(session_);
    if (summary_) request.summary = *summary_;
    if (!project_state_.empty()) request.project_state = project_state_;
    SKEIN_TRY(add_texts(request.decisions, decisions_, "--decision"));
    SKEIN_TRY(add_texts(request.learnings, learnings_, "--learning"));
    std::vector<Json> open;
    for (const RawJson entry : json_elements(request.open_threads.text())) {
      open.push_back(Json::trusted(std::string(entry)));
    }
    SKEIN_TRY(add_texts(open, open_, "--open"));
    std::vector<std::string> entries;
    for (const Json& entry : open) entries.push_back(entry.text());
    request.open_threads = Json::trusted(json_array_of(entries));
    return request;
  }

  static Result<void> add_texts(std::vector<Json>& values, const std::vector<std::string>& texts,
                                const char* argument) {
    for (const std::string& text : texts) {
      if (!valid_utf8(text)) {
        return fail(ErrorCode::kInvalid, fmt::format("{} must be valid UTF-8", argument));
      }
      values.push_back(Json::string(text));
    }
    return {};
  }

  Result<std::string> read_payload() const {
    if (*payload_ == "-") {
      return std::string(std::istreambuf_iterator<char>(std::cin), {});
    }
    SKEIN_ASSIGN(auto bytes, read_file(*payload_, limits::kMaxRecordBytes));
    if (!bytes) return fail(ErrorCode::kNotFound, "there is no file " + *payload_);
    return *std::move(bytes);
  }

  std::optional<std::string> session_;
  std::optional<std::string> summary_;
  std::optional<std::string> payload_;
  std::string project_state_;
  bool stale_ = false;
  std::vector<std::string> decisions_;
  std::vector<std::string> learnings_;
  std::vector<std::string> open_;
};

class List : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "list",
            .summary = "print the working sessions of this workspace that are open",
            .examples =
                "  skein session list\n"
                "  skein session list --json\n",
            .details = "The newest first. \"skein session close --stale\" closes old ones."};
  }

  std::vector<Argument> arguments() override { return {}; }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN_OR_FAIL(auto store, context.open(IfMissing::kCreate));
    WorkSessions sessions(*store, work_place(settings), system_clock(), random_ids());
    SKEIN_ASSIGN(const auto open, sessions.unclosed(kMaxUnclosedSessions));
    std::vector<std::string> rows;
    for (const WorkSession& session : open) {
      rows.push_back(context.json()
                         ? work_session_json(session)
                         : fmt::format("{:<36}  {}  {}  {}\n", session.id, session.started_at.str(),
                                       visible_line(session.agent), visible_line(session.project)));
    }
    if (context.json()) {
      context.out().write(JsonObject().add_json("sessions", json_array_of(rows)).str() + "\n");
      return kExitDone;
    }
    for (const std::string& row : rows) context.out().write(row);
    context.out().write(fmt::format("{} open\n", rows.size()));
    return kExitDone;
  }
};

}  // namespace

CommandGroup session_commands() {
  CommandGroup group{"session", "working sessions: begin with what is open, end with it", {}};
  group.commands.push_back(std::make_unique<Start>());
  group.commands.push_back(std::make_unique<Close>());
  group.commands.push_back(std::make_unique<List>());
  return group;
}

}  // namespace skein
