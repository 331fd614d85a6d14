#include "api/langgraph/update.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "api/langgraph/state.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "store/append_after_first.h"
#include "thread/status.h"

namespace skein::langgraph {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

constexpr int kMostAttempts = 10;

struct Written {
  std::vector<SentMessage> messages;
  Values others;
};

Result<void> take_values(RawJson values, Written& written) {
  if (values == "null") return {};
  if (values.starts_with('[')) {
    for (const RawJson one : json_elements(values)) SKEIN_TRY(take_values(one, written));
    return {};
  }
  if (!values.starts_with('{')) {
    return fail(ErrorCode::kInvalid, "values must be an object, got " + excerpt(values));
  }
  const JsonFields fields(values);
  for (const JsonFields::Field& field : fields.others()) {
    if (field.name != "messages") {
      written.others[field.name] = field.value;
      continue;
    }
    SKEIN_ASSIGN(auto messages, parse_messages(field.value));
    std::move(messages.begin(), messages.end(), std::back_inserter(written.messages));
  }
  return {};
}

Event values_event(const Values& values) {
  JsonObject object;
  for (const auto& [name, value] : values) object.add_json(name, value);
  Event event;
  event.payload = RunResult{};
  event.metadata = Json::trusted(JsonObject().add_json("values", object.str()).str());
  return event;
}

// Whether two messages say the same, whatever else is known of them.
bool say_the_same(const std::string& a, const std::string& b) {
  for (const std::string_view name : {"type", "content", "tool_calls", "tool_call_id"}) {
    const auto of = [&](const std::string& message) {
      for (const JsonFields fields(message); const auto& field : fields.others()) {
        if (field.name == name) return Json::trusted(std::string(field.value));
      }
      return Json();
    };
    if (!same_json(of(a), of(b))) return false;
  }
  return true;
}

std::string shown(ThreadId thread, const SentMessage& message) {
  ThreadState alone(thread);
  for (const Event& event : message.events) alone.add(event);
  return alone.messages().empty() ? "" : alone.messages().back().json;
}

// The list of messages as it is to be: some that are there, some that are new.
class Rewriting {
 public:
  Rewriting(Store& store, ThreadId thread, const ThreadState& state)
      : store_(store), thread_(thread), state_(state) {
    for (std::size_t i = 0; i < state.messages().size(); ++i) items_.push_back({i, nullptr});
  }

  Result<void> apply(const SentMessage& message) {
    if (message.removes && message.id == kRemoveAll) {
      items_.clear();
      return {};
    }
    const auto found = std::find_if(items_.begin(), items_.end(), [&](const Item& item) {
      return !message.id.empty() && id_of(item) == message.id;
    });
    if (message.removes) {
      if (found == items_.end()) {
        return fail(ErrorCode::kInvalid, "there is no message " + quote(message.id) + " to remove");
      }
      items_.erase(found);
    } else if (found == items_.end()) {
      items_.push_back({kNew, &message});
    } else if (found->sent != nullptr ||
               !say_the_same(state_.messages()[found->existing].json, shown(thread_, message))) {
      *found = {kNew, &message};
    }
    return {};
  }

  // How many of those that are there stay as they are.
  std::size_t untouched() const {
    std::size_t i = 0;
    while (i < items_.size() && items_[i].existing == i) ++i;
    return i;
  }

  Result<std::vector<Event>> events_from(std::size_t first) {
    if (items_.size() > first + limits::kMaxRewritten && first < state_.messages().size()) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("at most {} messages may follow one that is replaced, got {}",
                              limits::kMaxRewritten, items_.size() - first - 1));
    }
    std::vector<Event> events;
    for (std::size_t i = first; i < items_.size(); ++i) {
      if (items_[i].sent != nullptr) {
        const auto& sent = items_[i].sent->events;
        events.insert(events.end(), sent.begin(), sent.end());
      } else {
        SKEIN_TRY(copy(state_.messages()[items_[i].existing], events));
      }
    }
    return events;
  }

 private:
  static constexpr std::size_t kNew = static_cast<std::size_t>(-1);
  struct Item {
    std::size_t existing;
    const SentMessage* sent;
  };

  std::string_view id_of(const Item& item) const {
    return item.sent != nullptr ? item.sent->id : state_.messages()[item.existing].id;
  }

  // Once more, by the same id.
  Result<void> copy(const StateMessage& message, std::vector<Event>& out) {
    ReadRange range;
    range.from = message.first;
    range.limit = message.last - message.first + 1;
    bool first = true;
    return store_.read(thread_, range, [&](Event& event) {
      ThreadState alone(thread_);
      if (!alone.add(event) || alone.messages().empty()) return true;
      Event again;
      again.timestamp = event.timestamp;
      again.memory_type = event.memory_type;
      again.payload = std::move(event.payload);
      again.extra = std::move(event.extra);
      again.metadata = first ? named(event.metadata, message.id) : std::move(event.metadata);
      first = false;
      out.push_back(std::move(again));
      return true;
    });
  }

  static Json named(const Json& metadata, const std::string& id) {
    JsonFields fields(metadata.empty() ? "{}" : metadata.text());
    JsonFields kept(fields.take_object("langgraph").value_or("{}"));
    kept.take_string("id");
    JsonObject inner;
    for (const auto& field : kept.others()) inner.add_json(field.name, field.value);
    inner.add("id", id);
    JsonObject outer;
    for (const auto& field : fields.others()) outer.add_json(field.name, field.value);
    outer.add_json("langgraph", inner.str());
    return Json::trusted(outer.str());
  }

  Store& store_;
  const ThreadId thread_;
  const ThreadState& state_;
  std::vector<Item> items_;
};

Result<UpdatePlan> plan_rewrite(Store& store, const Manifest& thread, std::optional<Seq> at,
                                Written written) {
  const Seq last = thread.last_seq == 0 ? kLastSeq : thread.last_seq;
  SKEIN_ASSIGN(const ThreadState state, read_state(store, thread.id, at.value_or(last)));
  Rewriting rewriting(store, thread.id, state);
  for (const SentMessage& message : written.messages) SKEIN_TRY(rewriting.apply(message));
  const std::size_t untouched = rewriting.untouched();
  const bool branches = untouched < state.messages().size();
  UpdatePlan plan;
  SKEIN_ASSIGN(plan.events, rewriting.events_from(untouched));
  plan.plain = !branches && !at && written.others.empty();
  if (branches) {
    // The branch leaves them behind.
    for (const auto& [name, value] : state.others()) written.others.try_emplace(name, value);
  }
  if (!written.others.empty() || (branches && plan.events.empty())) {
    plan.events.push_back(values_event(written.others));
  }
  if (plan.events.empty()) return plan;
  if (branches) {
    plan.events.front().base = untouched == 0 ? 0 : state.messages()[untouched - 1].last;
    if (!at) plan.made_for = thread.last_seq;
  } else if (at) {
    plan.events.front().base = *at;
  }
  return plan;
}

}  // namespace

Result<UpdatePlan> plan_update(Store& store, const Manifest& thread, std::optional<Seq> at,
                               RawJson values) {
  if (at && *at >= thread.last_seq) at.reset();
  Written written;
  SKEIN_TRY(take_values(values, written));
  const bool named = std::any_of(written.messages.begin(), written.messages.end(),
                                 [](const SentMessage& message) { return !message.id.empty(); });
  if (named) return plan_rewrite(store, thread, at, std::move(written));
  UpdatePlan plan;
  plan.plain = !at && written.others.empty();
  for (SentMessage& message : written.messages) {
    std::move(message.events.begin(), message.events.end(), std::back_inserter(plan.events));
  }
  if (!written.others.empty()) plan.events.push_back(values_event(written.others));
  if (at && !plan.events.empty()) plan.events.front().base = *at;
  return plan;
}

std::vector<Append> appends_of(ThreadId thread, const UpdatePlan& plan) {
  std::vector<Append> appends;
  appends.reserve(plan.events.size());
  for (const Event& event : plan.events) {
    Append append;
    append.thread = thread;
    append.event = event;
    appends.push_back(std::move(append));
  }
  return appends;
}

Result<Seq> last_of(const std::vector<Result<Appended>>& results) {
  Seq last = 0;
  for (const Result<Appended>& result : results) {
    SKEIN_TRY(result);
    last = result->seq;
  }
  return last;
}

Result<Seq> write_plan(Store& store, ThreadManager& threads, const Manifest& thread,
                       const UpdatePlan& plan) {
  if (plan.events.empty()) return Seq{0};
  std::vector<Append> appends = appends_of(thread.id, plan);
  if (!plan.made_for) return last_of(threads.append(thread.id, std::move(appends)));
  appends.front().expect_seq = *plan.made_for + 1;
  Manifest now = thread;
  for (int attempt = 1;; ++attempt) {
    SKEIN_TRY(check_takes_messages(now));
    appends.front().expect_version = now.version;
    std::vector<Result<Appended>> answers;
    SKEIN_TRY(store.together([&](Writes& in) { answers = append_after_first(in, appends); }));
    auto last = last_of(answers);
    if (last || last.error().code != ErrorCode::kConflict || attempt == kMostAttempts) return last;
    // A title, or metadata, may have come meanwhile, and no event.
    SKEIN_ASSIGN(const auto found, store.get(thread.id));
    if (!found || found->version == now.version) return last;
    now = *found;
  }
}

}  // namespace skein::langgraph
