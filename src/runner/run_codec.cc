#include "runner/run_codec.h"

#include <array>
#include <utility>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

constexpr std::array<std::pair<RunStatus, const char*>, 6> kStatuses = {
    {{RunStatus::kPending, "pending"},
     {RunStatus::kRunning, "running"},
     {RunStatus::kSuccess, "success"},
     {RunStatus::kError, "error"},
     {RunStatus::kInterrupted, "interrupted"},
     {RunStatus::kTimeout, "timeout"}}};

constexpr std::array<std::pair<Multitask, const char*>, 4> kMultitasks = {
    {{Multitask::kEnqueue, "enqueue"},
     {Multitask::kReject, "reject"},
     {Multitask::kInterrupt, "interrupt"},
     {Multitask::kRollback, "rollback"}}};

constexpr std::array kErrorCodes = {ErrorCode::kInvalid, ErrorCode::kNotFound, ErrorCode::kConflict,
                                    ErrorCode::kBusy,    ErrorCode::kFenced,   ErrorCode::kDamaged,
                                    ErrorCode::kIo};

template <class T, std::size_t N>
const char* word_of(const std::array<std::pair<T, const char*>, N>& words, T value) {
  for (const auto& [known, word] : words) {
    if (known == value) return word;
  }
  return "";
}

template <class T, std::size_t N>
Result<T> value_of(const std::array<std::pair<T, const char*>, N>& words, std::string_view what,
                   std::string_view text) {
  std::string known;
  for (const auto& [value, word] : words) {
    if (text == word) return value;
    known.append(known.empty() ? "" : ", ").append(word);
  }
  return fail(ErrorCode::kInvalid,
              std::string(what) + " must be one of " + known + ", got " + quote(text));
}

template <class T>
void add_number(JsonObject& object, std::string_view name, const std::optional<T>& number) {
  if (!number) return;
  std::string text;
  append_json_number(text, *number);
  object.add_json(name, text);
}

void add_time(JsonObject& object, std::string_view name, Timestamp time) {
  if (time.is_set()) object.add(name, time.str());
}

void add_any(JsonObject& object, std::string_view name, const Json& json) {
  if (json.empty()) return;
  std::string line;
  append_json_on_one_line(line, json.text());
  object.add_json(name, line);
}

void add_seq(JsonObject& object, std::string_view name, Seq seq) {
  if (seq > 0) object.add(name, seq);
}

std::string error_json(const Error& error) {
  return JsonObject().add("code", to_string(error.code)).add("message", error.message).str();
}

std::string usage_json(const Run& run) {
  JsonObject usage;
  add_number(usage, "inputTokens", run.usage.input_tokens);
  add_number(usage, "outputTokens", run.usage.output_tokens);
  add_number(usage, "cacheReadTokens", run.usage.cache_read_tokens);
  add_number(usage, "costUsd", run.usage.cost_usd);
  add_number(usage, "turns", run.usage.turns);
  add_number(usage, "durationMs", run.duration_ms);
  return usage.str();
}

std::string question_json(const RunQuestion& question) {
  std::vector<std::string> calls;
  for (const ToolCall& call : question.calls) {
    JsonObject object;
    object.add("id", call.id).add("name", call.name);
    add_any(object, "input", call.input);
    calls.push_back(object.str());
  }
  return JsonObject().add_json("calls", json_array_of(calls)).str();
}

// --- And back ---

Json json_of(std::optional<RawJson> raw) { return raw ? Json::trusted(std::string(*raw)) : Json(); }

std::optional<double> take_double(JsonFields& fields, std::string_view name) {
  return fields.take(name, json_to_double);
}

Seq take_seq(JsonFields& fields, std::string_view name) {
  return static_cast<Seq>(fields.take_int(name).value_or(0));
}

std::optional<Seq> take_optional_seq(JsonFields& fields, std::string_view name) {
  const Seq seq = take_seq(fields, name);
  return seq > 0 ? std::optional(seq) : std::nullopt;
}

std::optional<Error> take_error(JsonFields& fields) {
  const auto object = fields.take_object("error");
  if (!object) return std::nullopt;
  JsonFields error(*object);
  const std::string code = error.take_string("code").value_or("");
  Error found{ErrorCode::kIo, error.take_string("message").value_or("")};
  for (const ErrorCode known : kErrorCodes) {
    if (code == to_string(known)) found.code = known;
  }
  return found;
}

void take_usage(JsonFields& fields, Run& run) {
  const auto object = fields.take_object("usage");
  if (!object) return;
  JsonFields usage(*object);
  run.usage.input_tokens = usage.take_int("inputTokens");
  run.usage.output_tokens = usage.take_int("outputTokens");
  run.usage.cache_read_tokens = usage.take_int("cacheReadTokens");
  run.usage.cost_usd = take_double(usage, "costUsd");
  run.usage.turns = usage.take_int("turns");
  run.duration_ms = take_double(usage, "durationMs");
}

std::optional<RunQuestion> take_question(JsonFields& fields) {
  const auto object = fields.take_object("question");
  if (!object) return std::nullopt;
  JsonFields question(*object);
  RunQuestion found;
  for (const RawJson element : json_elements(question.take("calls", any_json).value_or("[]"))) {
    JsonFields call(element);
    ToolCall& waiting = found.calls.emplace_back();
    waiting.id = call.take_string("id").value_or("");
    waiting.name = call.take_string("name").value_or("");
    waiting.input = json_of(call.take("input", any_json));
  }
  return found;
}

}  // namespace

const char* to_string(RunStatus status) { return word_of(kStatuses, status); }
const char* to_string(Multitask multitask) { return word_of(kMultitasks, multitask); }

Result<RunStatus> parse_run_status(std::string_view text) {
  return value_of(kStatuses, "status of a run", text);
}
Result<Multitask> parse_multitask(std::string_view text) {
  return value_of(kMultitasks, "multitask", text);
}

std::string to_json(const Run& run) {
  JsonObject object;
  object.add("runId", run.id).add("threadId", run.thread.str()).add("agentId", run.agent_id);
  object.add("status", to_string(run.status)).add("multitask", to_string(run.multitask));
  add_time(object, "createdAt", run.created_at);
  add_time(object, "startedAt", run.started_at);
  add_time(object, "endedAt", run.ended_at);
  if (run.error) object.add_json("error", error_json(*run.error));
  if (const std::string usage = usage_json(run); usage != "{}") object.add_json("usage", usage);
  if (!run.model.empty()) object.add("model", run.model);
  if (!run.chain.empty()) object.add("chain", run.chain);
  if (run.parent_run) object.add("parentRunId", *run.parent_run);
  add_any(object, "metadata", run.metadata);
  add_any(object, "input", run.input);
  add_any(object, "kwargs", run.kwargs);
  add_seq(object, "baseSeq", run.base_seq);
  add_seq(object, "firstSeq", run.first_seq);
  add_seq(object, "lastSeq", run.last_seq);
  add_seq(object, "userSeq", run.user_seq.value_or(0));
  add_seq(object, "responseSeq", run.response_seq.value_or(0));
  if (run.question) object.add_json("question", question_json(*run.question));
  if (run.rolled_back) object.add("rolledBack", true);
  if (!run.effects.empty()) object.add("effects", run.effects);
  if (run.resumed > 0) object.add("resumed", std::uint64_t{run.resumed});
  return object.str();
}

Result<Run> parse_run(std::string_view json) {
  if (auto valid = validate_json(json, "run", kMaxDocumentDepth + 1); !valid) {
    return fail(ErrorCode::kDamaged, valid.error().message);
  }
  JsonFields fields(json);
  Run run;
  run.id = fields.take_string("runId").value_or("");
  const auto thread = thread_of_run(run.id);
  const auto status = parse_run_status(fields.take_string("status").value_or(""));
  if (!thread || !status) {
    return fail(ErrorCode::kDamaged, "record is no run: " + excerpt(json));
  }
  run.thread = *thread;
  run.status = *status;
  run.agent_id = fields.take_string("agentId").value_or("");
  run.multitask =
      parse_multitask(fields.take_string("multitask").value_or("")).value_or(Multitask::kEnqueue);
  run.created_at = fields.take_time("createdAt").value_or(Timestamp{});
  run.started_at = fields.take_time("startedAt").value_or(Timestamp{});
  run.ended_at = fields.take_time("endedAt").value_or(Timestamp{});
  run.error = take_error(fields);
  take_usage(fields, run);
  run.model = fields.take_string("model").value_or("");
  run.chain = fields.take_strings("chain").value_or(std::vector<std::string>{});
  run.parent_run = fields.take_string("parentRunId");
  run.metadata = json_of(fields.take("metadata", any_json));
  run.input = json_of(fields.take("input", any_json));
  run.kwargs = json_of(fields.take("kwargs", any_json));
  run.base_seq = take_seq(fields, "baseSeq");
  run.first_seq = take_seq(fields, "firstSeq");
  run.last_seq = take_seq(fields, "lastSeq");
  run.user_seq = take_optional_seq(fields, "userSeq");
  run.response_seq = take_optional_seq(fields, "responseSeq");
  run.question = take_question(fields);
  run.rolled_back = fields.take_bool("rolledBack").value_or(false);
  run.effects = fields.take_strings("effects").value_or(std::vector<std::string>{});
  run.resumed = static_cast<std::uint32_t>(fields.take_int("resumed").value_or(0));
  return run;
}

std::string run_of(const Event& event) {
  if (event.metadata.text().find("runId") == std::string::npos) return {};
  return JsonFields(event.metadata.text()).take_string("runId").value_or("");
}

}  // namespace skein
