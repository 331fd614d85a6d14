#include "runner/accept.h"

#include <algorithm>

#include "core/quote.h"
#include "core/try.h"
#include "runner/run_input.h"
#include "skein/limits.h"

namespace skein {
namespace {

Result<void> check_chain(const RunRequest& request) {
  if (request.chain.size() > limits::kMaxAgentChain) {
    return fail(ErrorCode::kInvalid, "agents may ask agents at most " +
                                         std::to_string(limits::kMaxAgentChain) + " deep, got " +
                                         std::to_string(request.chain.size()));
  }
  if (std::find(request.chain.begin(), request.chain.end(), request.agent_id) ==
      request.chain.end()) {
    return {};
  }
  return fail(ErrorCode::kInvalid, "agent " + quote(request.agent_id) +
                                       " is already asking: agents must not ask in a circle");
}

Result<void> check_input(const RunRequest& request) {
  const auto& messages = request.input.messages;
  const auto& events = request.input.events;
  if (messages.size() + events.size() > limits::kMaxRunMessages) {
    return fail(ErrorCode::kInvalid,
                "input must be at most " + std::to_string(limits::kMaxRunMessages) +
                    " messages, got " + std::to_string(messages.size() + events.size()));
  }
  // With an id as long as that of the run, which the metadata of its events will carry.
  const std::string some_id(36, '0');
  std::size_t bytes = 0;
  for (const Event& event : input_events({.messages = {}, .events = events}, some_id)) {
    SKEIN_TRY(validate(event));
    bytes += to_json(event).size();
  }
  for (const NewMessage& message : messages) {
    SKEIN_TRY(check_optional_object("metadata", message.metadata, limits::kMaxEventMetadataBytes));
    bytes += message.text.size() + message.metadata.text().size();
    SKEIN_TRY(validate(input_event(message, some_id)));
    if (message.base) {
      return fail(ErrorCode::kInvalid, "a message of a run's input has no base: the run has one");
    }
  }
  if (bytes <= limits::kMaxRunInputBytes) return {};
  return fail(ErrorCode::kInvalid, "input must be at most " +
                                       std::to_string(limits::kMaxRunInputBytes) + " bytes, got " +
                                       std::to_string(bytes));
}

}  // namespace

Result<void> check_optional_object(std::string_view what, const Json& json, std::size_t limit) {
  if (json.empty()) return {};
  if (json.kind() != Json::Kind::kObject) {
    return fail(ErrorCode::kInvalid,
                std::string(what) + " must be a JSON object, got " + excerpt(json.text()));
  }
  if (json.text().size() <= limit) return {};
  return fail(ErrorCode::kInvalid, std::string(what) + " must be at most " + std::to_string(limit) +
                                       " bytes, got " + std::to_string(json.text().size()));
}

Result<void> check_request(const RunRequest& request) {
  SKEIN_TRY(check_agent_id(request.agent_id));
  SKEIN_TRY(check_optional_object("metadata", request.metadata, limits::kMaxMetadataBytes));
  SKEIN_TRY(check_optional_object("kwargs", request.kwargs, limits::kMaxRunKwargsBytes));
  SKEIN_TRY(check_chain(request));
  if (request.timeout && request.timeout->count() <= 0) {
    return fail(ErrorCode::kInvalid,
                "timeout must be more than 0 ms, got " + std::to_string(request.timeout->count()));
  }
  return check_input(request);
}

Result<void> check_takes_runs(const Manifest& manifest, std::string_view agent_id) {
  if (manifest.agent_id != agent_id) {
    return fail(ErrorCode::kConflict, "thread " + manifest.id.str() + " belongs to agent " +
                                          quote(manifest.agent_id) + ", not " + quote(agent_id));
  }
  if (manifest.status != ThreadStatus::kActive) {
    return fail(ErrorCode::kConflict, "thread " + manifest.id.str() + " is " +
                                          to_string(manifest.status) +
                                          "; only an active thread takes runs");
  }
  return {};
}

Result<Manifest> thread_for(Store& store, const RunRequest& request) {
  if (request.thread_id.empty()) {
    if (request.base) return fail(ErrorCode::kInvalid, "a new thread has nothing to go on from");
    NewThread thread;
    thread.agent_id = request.agent_id;
    if (!request.thread_metadata.empty()) thread.fields.metadata(request.thread_metadata);
    if (request.task_id) thread.fields.task_id(*request.task_id);
    return store.create(thread);
  }
  SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(request.thread_id));
  SKEIN_ASSIGN(const auto manifest, store.get(ref));
  if (!manifest) {
    return fail(ErrorCode::kNotFound, "there is no thread " + quote(request.thread_id));
  }
  SKEIN_TRY(check_takes_runs(*manifest, request.agent_id));
  if (request.base && *request.base > manifest->last_seq) {
    return fail(ErrorCode::kInvalid, "base must be at most " + std::to_string(manifest->last_seq) +
                                         ", the thread's last event, got " +
                                         std::to_string(*request.base));
  }
  return *manifest;
}

Error no_open_question(const Run& run) {
  return {ErrorCode::kConflict, "run " + run.id + " (" + to_string(run.status) +
                                    ") has no open question" +
                                    (run.error ? ": " + run.error->message : "")};
}

Result<void> check_answer(const Run& run, const RunAnswer& answer) {
  if (!run.question) return tl::unexpected(no_open_question(run));
  if (answer.resumed && *answer.resumed != run.resumed) {
    return fail(ErrorCode::kConflict,
                "the question was answered, and run " + run.id + " asks another one by now");
  }
  const auto& calls = run.question->calls;
  for (const std::string& call : answer.calls) {
    if (std::none_of(calls.begin(), calls.end(),
                     [&](const ToolCall& waiting) { return waiting.id == call; })) {
      return fail(ErrorCode::kInvalid, "no call " + quote(call) + " waits for an answer");
    }
  }
  return {};
}

}  // namespace skein
