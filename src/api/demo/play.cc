#include "api/demo/play.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "api/work/place.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "skein/triggers.h"
#include "skein/usage.h"

namespace skein {
namespace {

constexpr std::array<std::string_view, 8> kOfRuns = {"say", "tool",   "also", "=",
                                                     "ask", "answer", "stop", "fails"};

bool belongs_to_run(const DemoStep& step) {
  return std::find(kOfRuns.begin(), kOfRuns.end(), step.verb) != kOfRuns.end();
}

// How many steps from the second on fit.
template <class Fits>
std::size_t followers(std::span<const DemoStep> steps, Fits fits) {
  const auto end = std::find_if_not(steps.begin() + 1, steps.end(), fits);
  return static_cast<std::size_t>(end - steps.begin()) - 1;
}

std::vector<std::string> listed(const std::string& text, std::string_view separator) {
  std::vector<std::string> all;
  if (text.empty()) return all;
  std::size_t count = 1;
  for (std::size_t at = 0; (at = text.find(separator, at)) != std::string::npos; ++at) ++count;
  return demo_parts(text, count, separator);
}

DemoRun::Call call_of(const std::string& text) {
  const std::vector<std::string> parts = demo_parts(text, 2, " ");
  return {parts[0], Json::trusted(parts[1]), ""};
}

DemoRun run_of(std::span<const DemoStep> steps, const std::string& model) {
  DemoRun run;
  run.model = model;
  std::string narration;
  const auto new_turn = [&](const std::string& call) {
    run.turns.push_back({std::exchange(narration, ""), {call_of(call)}});
  };
  for (const DemoStep& step : steps) {
    if (step.verb == "say") narration = step.text;
    if (step.verb == "tool" || step.verb == "ask") new_turn(step.text);
    if (step.verb == "also") run.turns.back().calls.push_back(call_of(step.text));
    if (step.verb == "=") run.turns.back().calls.back().result = step.text;
    if (step.verb == "ask") run.end = DemoRun::End::kQuestion;
    if (step.verb == "stop") run.end = DemoRun::End::kStop;
    if (step.verb == "fails") run.end = DemoRun::End::kFailure;
    if (step.verb == "answer" || step.verb == "stop" || step.verb == "fails") run.last = step.text;
  }
  return run;
}

bool changes_a_file(const DemoStep& step) { return step.verb == "file" || step.verb == "edit"; }

// Answers by itself and offline; whoever has a key changes the engine.
DemoFile definition(const std::string& id, const std::vector<std::string>& parts) {
  JsonObject agent;
  agent.add("engine", "echo").add("description", parts[1]).add("system", parts[2]);
  if (!parts[3].empty()) agent.add_json("capabilities", parts[3]);
  agent.add_json("options", R"({"delayMs":30})");
  return {"agents/" + id + "/agent.json", agent.str() + "\n"};
}

CheckpointsOptions checkpoints_options(const DemoPlay::Parts& parts) {
  CheckpointsOptions options;
  options.workspace = parts.settings.workspace.string();
  options.clock = &parts.clock;
  return options;
}

RunnerOptions runner_options(const DemoPlay::Parts& parts) {
  RunnerOptions options;
  options.clock = &parts.clock;
  options.ids = &parts.ids;
  options.effect_threads = 1;
  options.titles = false;
  options.signer = parts.settings.signer;
  return options;
}

}  // namespace

DemoPlay::DemoPlay(const Parts& parts, DemoRepository repository)
    : parts_(parts),
      repository_(std::move(repository)),
      player_(parts.clock, parts.seed),
      runner_(parts.store, player_, runner_options(parts)),
      manager_(parts.store, {.clock = &parts.clock, .ids = &parts.ids}),
      tasks_(parts.store, runner_, player_, parts.clock, parts.ids, parts.settings.signer),
      items_(parts.store, work_place(parts.settings), parts.clock, parts.ids),
      sessions_(parts.store, work_place(parts.settings), parts.clock, parts.ids),
      checkpoints_(checkpoints_options(parts)) {
  first_files_.push_back({".gitignore", ".skein/\n.gitmem/\nworkspace/\n__pycache__/\n"});
}

Result<void> DemoPlay::introduce(const std::vector<DemoStep>& cast) {
  for (const DemoStep& step : cast) {
    if (step.verb == "model") {
      const std::vector<std::string> words = demo_parts(step.text, 4, " ");
      const auto dollars = [&](std::size_t at) { return std::strtod(words[at].c_str(), nullptr); };
      player_.set_price(words[0], {dollars(1), dollars(2), dollars(3)});
    } else if (step.verb == "agent") {
      const std::vector<std::string> parts = demo_parts(step.text, 4);
      player_.set_prompt(parts[0], parts[2]);
      first_files_.push_back(definition(parts[0], parts));
    }
  }
  return repository_.write(first_files_);
}

Result<void> DemoPlay::section(const DemoSection& section) {
  parts_.clock.move_to(parts_.clock.end_ms() - section.ago.count());
  Steps steps = section.steps;
  while (!steps.empty()) {
    auto used = step(steps);
    if (!used) {
      return fail(used.error().code, "line " + std::to_string(steps[0].line) +
                                         " of the demo's stories: " + used.error().message);
    }
    steps = steps.subspan(*used);
  }
  return {};
}

Result<std::size_t> DemoPlay::step(Steps steps) {
  const DemoStep& first = steps[0];
  if (first.verb == "user" || first.verb == "task") {
    const std::size_t more = followers(steps, belongs_to_run);
    if (first.verb == "task") {
      SKEIN_TRY(begin_task(first, run_of(steps.subspan(1, more), "")));
    } else {
      SKEIN_TRY(run(run_request(current().agent, thread(), first.text),
                    run_of(steps.subspan(1, more), current().model)));
    }
    return more + 1;
  }
  if (first.verb == "commit" || first.verb == "file") {
    const std::size_t more = followers(steps, changes_a_file);
    const bool commits = first.verb == "commit";
    std::vector<DemoFile> files;
    if (commits) files = std::exchange(first_files_, {});
    for (const DemoStep& file : steps.subspan(commits ? 1 : 0, commits ? more : more + 1)) {
      SKEIN_ASSIGN(DemoFile changed, change_file(file));
      files.push_back(std::move(changed));
    }
    parts_.clock.advance(60'000);
    if (commits) {
      SKEIN_TRY(repository_.commit(first.text, files, parts_.clock.now()));
    } else {
      SKEIN_TRY(repository_.write(files));
    }
    return more + 1;
  }
  SKEIN_TRY(small_step(first));
  return 1;
}

Result<DemoFile> DemoPlay::change_file(const DemoStep& step) {
  const std::vector<std::string> parts = demo_parts(step.text, 2, "\n");
  std::string& content = files_[parts[0]];
  if (step.verb == "file") {
    content = parts[1] + "\n";
  } else if (const std::string_view more(parts[1]); more.starts_with("=>\n")) {
    content.append(more.substr(3)).append("\n");
  } else {
    const std::vector<std::string> change = demo_parts(more, 2, "\n=>\n");
    const std::size_t at = content.find(change[0]);
    if (at == std::string::npos) return fail(ErrorCode::kInvalid, "no such text in " + parts[0]);
    content.replace(at, change[0].size(), change[1]);
  }
  return DemoFile{parts[0], content};
}

Result<void> DemoPlay::small_step(const DemoStep& step) {
  parts_.clock.advance(10'000);
  const auto only = [](auto&& result) -> Result<void> {
    if (!result) return tl::unexpected(std::move(result).error());
    return {};
  };
  if (step.verb == "thread") return begin_thread(step);
  if (step.verb == "fork") return fork_thread(step);
  if (step.verb == "pin") return pin();
  if (step.verb == "archive") return archive(step.text);
  if (step.verb == "resolve") return resolve(step.text);
  if (step.verb == "session") return begin_session(step.text);
  if (step.verb == "end") return end_session(step.text);
  if (step.verb == "auto" || step.verb == "checkpoint" || step.verb == "handoff") {
    return checkpoint(step);
  }
  if (step.verb == "on") {
    current_ = step.text;
    return {};
  }
  if (step.verb == "pause") return only(manager_.update_status(thread(), ThreadStatus::kPaused));
  if (step.verb == "close") return only(manager_.close(thread(), {.summary = step.text}));
  if (step.verb == "item") {
    CreateItem item;
    item.text = step.text;
    item.opened_by.thread = thread();
    return only(items_.create(item));
  }
  if (step.verb == "summarize") {
    SummarizeRequest request;
    request.threshold = 1;
    request.keep_recent = std::strtoull(step.text.c_str(), nullptr, 10);
    summary_.long_thread = thread();
    return only(manager_.summarize(thread(), request));
  }
  return fail(ErrorCode::kInvalid, "nobody knows how to " + quote(step.verb, 40));
}

Result<void> DemoPlay::begin_thread(const DemoStep& step) {
  const std::vector<std::string> parts = demo_parts(step.text, 3);
  const std::vector<std::string> names = demo_parts(parts[0], 3, " ");
  NewConversation wanted;
  wanted.agent_id = names[1];
  wanted.title = parts[1];
  if (!parts[2].empty()) wanted.metadata = Json::trusted(parts[2]);
  SKEIN_ASSIGN(const Manifest made, manager_.create(wanted));
  current_ = names[0];
  conversations_[current_] = {made.id, names[1], names[2], {}};
  ++summary_.threads;
  return {};
}

Result<void> DemoPlay::fork_thread(const DemoStep& step) {
  const std::vector<std::string> parts = demo_parts(step.text, 2);
  const std::vector<std::string> words = demo_parts(parts[0], 3, " ");
  const Conversation& parent = conversations_[words[0]];
  const std::size_t back = std::strtoull(words[2].c_str(), nullptr, 10);
  if (back >= parent.ends.size()) return fail(ErrorCode::kInvalid, "not that many runs");
  const Seq at = parent.ends[parent.ends.size() - 1 - back];
  SKEIN_ASSIGN(const Manifest made, Threads(parts_.store).fork(parent.id.str(), at));
  SKEIN_TRY(manager_.update(made.id.str(), ManifestPatch().title(parts[1])));
  summary_.forked_thread = parent.id.str();
  conversations_[words[1]] = {made.id, parent.agent, parent.model, {}};
  current_ = words[1];
  ++summary_.threads;
  return {};
}

Result<void> DemoPlay::begin_task(const DemoStep& step, DemoRun run) {
  const std::vector<std::string> parts = demo_parts(step.text, 3);
  const std::vector<std::string> names = demo_parts(parts[0], 3, " ");
  SKEIN_ASSIGN(const Task task,
               tasks_.create({.agent_id = names[1], .text = parts[2], .title = parts[1]}));
  current_ = names[0];
  conversations_[current_] = {task.thread, names[1], names[2], {}};
  ++summary_.threads;
  SKEIN_ASSIGN(const RunRequest request, tasks_.request(task.id));
  run.model = names[2];
  return this->run(request, std::move(run));
}

Result<void> DemoPlay::run(const RunRequest& request, DemoRun run) {
  SKEIN_ASSIGN(const Run ended, player_.play(runner_, request, std::move(run)));
  SKEIN_ASSIGN(const auto manifest, manager_.get(thread()));
  current().ends.push_back(manifest->last_seq);
  if (ended.question) summary_.waiting_run = ended.id;
  ++summary_.runs;
  return {};
}

Result<void> DemoPlay::pin() {
  SKEIN_ASSIGN(const auto last,
               manager_.messages(thread(), {.limit = 1, .order = MessageOrder::kNewestFirst}));
  if (last.empty()) return fail(ErrorCode::kInvalid, "nothing to pin");
  SKEIN_TRY(manager_.pin(thread(), last.front().seq));
  return {};
}

Result<void> DemoPlay::archive(const std::string& text) {
  const std::vector<std::string> parts = demo_parts(text, 2, " ");
  SKEIN_TRY(manager_.archive(
      thread(),
      {.retention_days = std::strtoll(parts[0].c_str(), nullptr, 10), .reason = parts[1]}));
  return {};
}

Result<void> DemoPlay::resolve(const std::string& text) {
  const std::vector<std::string> parts = demo_parts(text, 2, " => ");
  ResolveItem item;
  item.text_match = parts[0];
  item.resolution_note = parts[1];
  item.closed_by.thread = thread();
  SKEIN_TRY(items_.resolve(item));
  return {};
}

Result<void> DemoPlay::begin_session(const std::string& agent) {
  StartSession wanted;
  wanted.agent = agent;
  SKEIN_ASSIGN(const StartedSession started, sessions_.start(wanted));
  session_ = {started.session.id, parts_.clock.now(), repository_.head()};
  return {};
}

Result<void> DemoPlay::end_session(const std::string& text) {
  if (!session_) return fail(ErrorCode::kInvalid, "there is no session to end");
  const std::vector<std::string> parts = demo_parts(text, 2);
  CloseSession request;
  request.session_id = session_->id;
  request.summary = parts[0];
  std::string open;
  for (const std::string& item : listed(parts[1], "; ")) {
    open += open.empty() ? "[" : ",";
    append_json_string(open, item);
  }
  if (!open.empty()) request.open_threads = Json::trusted(open + "]");
  SKEIN_TRY(sessions_.close(request));
  session_.reset();
  return {};
}

Result<void> DemoPlay::checkpoint(const DemoStep& step) {
  const std::vector<std::string> parts = demo_parts(step.text, 5);
  NewCheckpoint wanted;
  wanted.title = parts[1];
  if (step.verb == "auto") {
    wanted.type = CheckpointType::kAuto;
    wanted.trigger = parts[0];
    wanted.summary = parts[1];
  } else {
    if (step.verb == "handoff") wanted.type = CheckpointType::kHandoff;
    wanted.slug = parts[0];
    wanted.summary = parts[2];
    wanted.next_steps = listed(parts[3], "; ");
    wanted.tags = listed(parts[4], ", ");
    Worker& worker = wanted.worker.emplace();
    worker.id = current().agent;
    worker.state = step.verb == "handoff" ? WorkerState::kExecuting : WorkerState::kCompleted;
  }
  if (session_) {
    wanted.session_began = session_->began;
    wanted.initial_commit = session_->commit;
  }
  SKEIN_TRY(checkpoints_.create(wanted));
  ++summary_.checkpoints;
  return {};
}

Result<DemoSummary> DemoPlay::summary() {
  Triggers triggers(parts_.store, parts_.clock, parts_.ids, parts_.settings.signer);
  SKEIN_TRY(triggers.add({.agent_id = "nightly",
                          .cron = "0 2 * * *",
                          .text = "Compare the feed with yesterday's.",
                          .zone = "Europe/Berlin",
                          .name = "nightly check"}));
  SKEIN_ASSIGN(const ItemListing listing, items_.list({}));
  SKEIN_ASSIGN(const UsageReport usage, usage_report(parts_.store, {}));
  summary_.open_items = listing.total_open;
  summary_.resolved_items = listing.total_resolved;
  summary_.commits = repository_.commits();
  summary_.cost_usd = usage.all.cost_usd;
  return summary_;
}

}  // namespace skein
