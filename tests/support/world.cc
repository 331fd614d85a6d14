#include "support/world.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "support/builders.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

constexpr std::size_t kThreads = 8;

ThreadId thread_number(std::size_t i) { return ThreadId::from_bits(0xA00000000000 + i * 0x1111); }

std::string alias_number(std::size_t i) {
  return "1234567" + std::to_string(i) + "-9a57-4b0e-8f5e-0c1d2e3f4a5b";
}

const std::vector<std::string>& texts_to_say() {
  static const std::vector<std::string> kTexts{"",
                                               "plain",
                                               "two\nlines",
                                               "\"quoted\" \\ 'text'",
                                               "a\0b"s,
                                               "\xf0\x9f\xa7\xb6 wool",
                                               std::string(300, 'x'),
                                               "}\n{\"agentId\":\"x\"}",
                                               "'; DROP TABLE threads; --"};
  return kTexts;
}

const std::vector<std::string>& patches_to_try() {
  static const std::vector<std::string> kPatches{
      R"({"title":"one"})",
      R"({"title":"two","sessionId":"s"})",
      R"({"title":null})",
      R"({"metadata":{"a":1,"b":"x"}})",
      R"({"metadata":{"a":1.0,"b":null,"c":true}})",
      R"({"metadata":{"b":"x","a":1}})",
      R"({"metadata":null,"pins":[1,2]})",
      R"({"status":"paused"})",
      R"({"status":"closed","closedAt":"2026-02-01T00:00:00Z","summary":"s"})",
      R"({"status":null,"archive":{"at":"2026-02-02T00:00:00Z","retentionDays":3}})",
      R"({"custom":12345678901234567890123,"channel":"c"})",
      R"({"custom":null})",
      R"({})",
      R"({"title":7})",
      R"({"agentId":"other"})",
      R"({"metadata":[]})",
  };
  return kPatches;
}

template <class T>
std::string failed(const Result<T>& result) {
  return to_string(result.error().code);
}

}  // namespace

class World::Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  ThreadId thread() { return thread_number(below(kThreads + (one_in(8) ? 4 : 0))); }
  template <class Container>
  const auto& one_of(const Container& choices) {
    return choices[below(std::size(choices))];
  }

 private:
  std::mt19937_64 random_;
};

std::vector<Operation> random_operations(std::uint64_t seed, std::size_t count) {
  using Weighted = std::pair<Deed, int>;
  static constexpr std::array<Weighted, 18> kWeights{{{Deed::kCreate, 60},
                                                      {Deed::kFork, 30},
                                                      {Deed::kGet, 50},
                                                      {Deed::kList, 70},
                                                      {Deed::kNextPage, 40},
                                                      {Deed::kUpdate, 100},
                                                      {Deed::kRemove, 25},
                                                      {Deed::kAppend, 260},
                                                      {Deed::kRead, 100},
                                                      {Deed::kLease, 80},
                                                      {Deed::kWrite, 80},
                                                      {Deed::kTogether, 60},
                                                      {Deed::kScan, 40},
                                                      {Deed::kFeed, 60},
                                                      {Deed::kCheck, 4},
                                                      {Deed::kAdvance, 60},
                                                      {Deed::kReboot, 8},
                                                      {Deed::kReopen, 25}}};
  std::vector<int> weights;
  for (const auto& [deed, weight] : kWeights) weights.push_back(weight);
  std::discrete_distribution<std::size_t> choose(weights.begin(), weights.end());
  std::mt19937_64 random(seed);
  std::vector<Operation> operations(count);
  for (Operation& operation : operations) {
    operation = {kWeights[choose(random)].first, random()};
  }
  return operations;
}

World::World(std::string backend, bool feed_in_order, Wrap wrap)
    : backend_(std::move(backend)), feed_in_order_(feed_in_order), wrap_(std::move(wrap)) {
  if (wrap_) wrapped_ = wrap_(backend_.store());
}

std::string World::perform(const Operation& operation) {
  Dice dice(operation.seed);
  switch (operation.deed) {
    case Deed::kCreate:
      return create(dice);
    case Deed::kFork:
      return fork(dice);
    case Deed::kGet:
      return get(dice);
    case Deed::kList:
      return list(dice);
    case Deed::kNextPage:
      return next_page();
    case Deed::kUpdate:
      return update(dice, store());
    case Deed::kRemove:
      return remove(dice);
    case Deed::kAppend:
      return append(dice, store());
    case Deed::kRead:
      return read(dice);
    case Deed::kLease:
      return lease(dice, store());
    case Deed::kWrite:
      return write(dice, store());
    case Deed::kTogether:
      return together(dice);
    case Deed::kScan:
      return scan(dice);
    case Deed::kFeed:
      return feed(dice);
    case Deed::kCheck:
      return check();
    case Deed::kAdvance:
      return advance(dice);
    case Deed::kReboot:
      return reopen(true);
    case Deed::kReopen:
      return reopen(false);
  }
  return "nothing";
}

std::string World::make(const NewThread& thread, const std::string& what) {
  const Result<Manifest> made = store().create(thread);
  return what + " → " + (made.has_value() ? tell(*made) : failed(made));
}

std::string World::create(Dice& dice) {
  NewThread thread;
  thread.id = dice.thread();
  thread.agent_id = dice.one_in(12) ? "no agent" : "agent" + std::to_string(dice.below(3));
  if (dice.one_in(3)) thread.alias = alias_number(dice.below(4));
  const std::string& fields = dice.one_of(patches_to_try());
  if (dice.one_in(2)) thread.fields = patch(fields);
  for (std::size_t i = dice.below(4); i > 0; --i) {
    thread.events.push_back(random_event(dice, *thread.id));
  }
  std::string what = "create " + thread.id->str() + " " + thread.agent_id + " " +
                     thread.alias.value_or("") + (thread.fields.empty() ? "" : " " + fields);
  for (const Event& event : thread.events) what += "\n    " + describe(event);
  return make(thread, what);
}

std::string World::fork(Dice& dice) {
  NewThread thread;
  thread.id = dice.thread();
  thread.from = Parent{dice.thread(), dice.below(8)};
  thread.agent_id = "agent" + std::to_string(dice.below(3));
  if (const auto parent = store().get(thread.from->thread);
      parent.has_value() && *parent && !dice.one_in(6)) {
    thread.agent_id = (*parent)->agent_id;
  }
  if (dice.one_in(3)) thread.events.push_back(random_event(dice, *thread.id));
  return make(thread, "fork " + thread.from->thread.str() + " up to " +
                          std::to_string(thread.from->seq) + " as " + thread.id->str() + " of " +
                          thread.agent_id);
}

std::string World::get(Dice& dice) {
  ThreadRef ref = dice.thread();
  if (dice.one_in(3)) ref = *ThreadRef::parse(alias_number(dice.below(4)));
  const Result<std::optional<Manifest>> found = store().get(ref);
  return "get " + ref.str() + " → " +
         (!found.has_value() ? failed(found)
          : *found           ? tell(**found)
                             : "nothing");
}

std::string World::list(Dice& dice) {
  ListQuery query;
  std::string what = "list";
  if (dice.one_in(2)) query.agent_id = "agent" + std::to_string(dice.below(4));
  if (dice.one_in(4)) query.status = static_cast<ThreadStatus>(dice.below(4));
  static const std::vector<std::pair<std::string, std::string>> kTerms{
      {"a", "1"},   {"b", "\"x\""}, {"b", "null"}, {"c", "true"},
      {"a", "1e0"}, {"a", "\"1\""}, {"zz", "1"},   {"a') OR 1=1 --", "1"}};
  for (std::size_t i = dice.one_in(2) ? 1 + dice.below(2) : 0; i > 0; --i) {
    const auto& [key, value] = dice.one_of(kTerms);
    query.metadata.push_back({key, json(value)});
    what += " " + key + "=" + value;
  }
  query.order = static_cast<ListOrder>(dice.below(3));
  query.limit = dice.one_in(30) ? 0 : 1 + dice.below(6);
  query.with_total = dice.one_in(2);
  what += " agent=" + query.agent_id.value_or("any") +
          " order=" + std::to_string(static_cast<int>(query.order)) +
          " limit=" + std::to_string(query.limit);
  const Result<ThreadPage> page = store().list(query);
  if (!page.has_value()) return what + " → " + failed(page);
  page_query_ = query;
  page_query_.after = page->next;
  return what + " → " + tell(*page);
}

std::string World::next_page() {
  if (page_query_.after.empty()) return "next page: none";
  const Result<ThreadPage> page = store().list(page_query_);
  if (!page.has_value()) return "next page → " + failed(page);
  page_query_.after = page->next;
  return "next page → " + tell(*page);
}

std::string World::update(Dice& dice, Writes& in) {
  const ThreadId id = dice.thread();
  const std::string& fields = dice.one_of(patches_to_try());
  UpdateOptions options;
  if (dice.one_in(4)) options.expect_version = random_version(dice, id.str());
  if (dice.one_in(4)) options.fence = random_token(dice, id);
  if (dice.one_in(8)) options.agent_id = "agent" + std::to_string(dice.below(3));
  const std::string what = "update " + id.str() + " " + fields +
                           (options.expect_version ? " expecting a version" : "") +
                           (options.fence ? " fenced" : "") +
                           (options.agent_id ? " for agent " + *options.agent_id : "") + " → ";
  const Result<Manifest> updated = in.update(id, patch(fields), options);
  return what + (updated.has_value() ? tell(*updated) : failed(updated));
}

std::string World::remove(Dice& dice) {
  const ThreadId id = dice.thread();
  const Result<bool> removed = store().remove(id);
  return "remove " + id.str() + " → " +
         (!removed.has_value() ? failed(removed)
          : *removed           ? "removed"
                               : "was not there");
}

Event World::random_event(Dice& dice, ThreadId thread) {
  Event event;
  const std::string& text = dice.one_of(texts_to_say());
  switch (dice.below(6)) {
    case 0:
      event = tool_use(dice.one_in(9) ? "" : "look", R"({"at":[1,{"n":null}]})");
      break;
    case 1:
      event = assistant_text(text);
      break;
    case 2:
      event = run_result(0.25, 3);
      break;
    default:
      event = message(dice.one_in(15) ? "\xff" : text, static_cast<Role>(dice.below(4)));
  }
  if (dice.one_in(3)) event.key = "k" + std::to_string(dice.below(5));
  if (dice.one_in(4)) event.base = dice.below(known_.last_seq[thread] + 3);
  if (dice.one_in(4)) event.metadata = json(R"({"tool_call_id":"x","n":1.50})");
  if (dice.one_in(5)) event.extra = json(R"({"x-big":12345678901234567890123})");
  if (dice.one_in(20)) event.extra = json(R"({"seq":5})");
  if (dice.one_in(4)) event.memory_type = static_cast<MemoryType>(dice.below(5));
  if (dice.one_in(4)) event.tokens = static_cast<std::uint32_t>(dice.below(1000));
  if (dice.one_in(6)) {
    event.timestamp = {1'769'178'000'000'000 +
                       static_cast<std::int64_t>(dice.below(3'600'000'000))};
  }
  return event;
}

std::string World::append(Dice& dice, Writes& in) {
  std::vector<Append> appends(dice.one_in(3) ? 1 + dice.below(6) : 1);
  std::string what = "append";
  ThreadId id = dice.thread();
  for (Append& append : appends) {
    if (dice.one_in(3)) id = dice.thread();
    append.thread = id;
    append.event = random_event(dice, id);
    const auto keyed = known_.keyed.find(id);
    if (dice.one_in(6) && keyed != known_.keyed.end()) append.event = keyed->second;
    if (dice.one_in(6)) append.expect_seq = known_.last_seq[id] + dice.below(3);
    if (dice.one_in(4)) append.fence = random_token(dice, id);
    what += "\n    " + id.str() + " " + describe(append.event).substr(0, 200) +
            (append.expect_seq ? " at " + std::to_string(*append.expect_seq) : "") +
            (append.fence ? " with " + tell_token(*append.fence) : "");
  }
  what += "\n    →";
  const std::vector<Result<Appended>> results = in.append(appends);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].has_value()) {
      what += " " + failed(results[i]);
      continue;
    }
    Seq& last = known_.last_seq[appends.at(i).thread];
    last = std::max(last, results[i]->seq);
    if (!appends.at(i).event.key.empty()) {
      known_.keyed.insert_or_assign(appends.at(i).thread, appends.at(i).event);
    }
    what += " " + std::to_string(results[i]->seq) + (results[i]->repeated ? " repeated" : "");
  }
  return what;
}

std::string World::read(Dice& dice) {
  const ThreadId id = dice.thread();
  ReadRange range;
  range.from = dice.one_in(2) ? 0 : dice.below(12);
  if (dice.one_in(2)) range.limit = dice.below(6);
  range.direction = dice.one_in(2) ? Direction::kForward : Direction::kBackward;
  range.view = dice.one_in(2) ? View::kLog : View::kPath;
  if (dice.one_in(4)) range.head = dice.below(12);
  std::string what = "read " + id.str() + " from " + std::to_string(range.from) + " limit " +
                     std::to_string(range.limit) +
                     (range.direction == Direction::kForward ? " forward" : " backward") +
                     (range.view == View::kPath ? " path" : " log") + " head " +
                     std::to_string(range.head) + " →";
  const Result<void> result = store().read(id, range, [&what](Event& event) {
    what += "\n    " + describe(event);
    return true;
  });
  return result.has_value() ? what : what + " " + failed(result);
}

LeaseToken World::random_token(Dice& dice, ThreadId thread) {
  const std::vector<LeaseToken>& known = known_.tokens[thread];
  if (known.empty() || dice.one_in(8))
    return known_.all_tokens.empty() ? 77 : dice.one_of(known_.all_tokens);
  return dice.one_in(3) ? dice.one_of(known) : known.back();
}

Version World::random_version(Dice& dice, const std::string& object) {
  const std::vector<Version>& known = known_.versions[object];
  if (known.empty() || dice.one_in(8)) return 0;
  return dice.one_in(3) ? dice.one_of(known) : known.back();
}

std::string World::lease(Dice& dice, Writes& in) {
  const ThreadId id = dice.thread();
  std::optional<LeaseToken> token;
  if (dice.one_in(2)) token = random_token(dice, id);
  const auto ttl = std::chrono::milliseconds(dice.one_in(4) ? 0 : 1 + dice.below(20'000));
  const Result<Lease> lease = in.lease(id, "h" + std::to_string(dice.below(3)), ttl, token);
  std::string what = "lease " + id.str() + " for " + std::to_string(ttl.count()) +
                     (token ? " with " + tell_token(*token) : "") + " → ";
  if (!lease.has_value()) return what + failed(lease);
  if (ttl.count() > 0) known_.tokens[id].push_back(lease->token);
  return what + tell_token(lease->token) + " for " + std::to_string(lease->remaining.count());
}

std::string World::write(Dice& dice, Writes& in) {
  std::vector<RecordWrite> writes(1 + dice.below(3));
  std::string what = "write";
  for (RecordWrite& write : writes) {
    write.collection = dice.one_in(20) ? "No" : dice.one_in(2) ? "runs" : "usage";
    write.key = dice.one_in(20) ? "" : "key" + std::to_string(dice.below(6));
    if (!dice.one_in(4)) write.bytes = dice.one_of(texts_to_say()) + "\xff";
    if (dice.one_in(3)) {
      write.expect_version = random_version(dice, write.collection + "/" + write.key);
    }
    if (dice.one_in(5)) {
      const ThreadId id = dice.thread();
      write.fence = Fence{id, random_token(dice, id)};
    }
    what += " " + write.collection + "/" + write.key + (write.bytes ? "" : " (delete)") +
            (write.expect_version ? " expecting" : "") + (write.fence ? " fenced" : "");
  }
  what += " →";
  const Result<std::vector<Version>> versions = in.write(writes);
  if (!versions.has_value()) return what + " " + failed(versions);
  for (std::size_t i = 0; i < versions->size(); ++i) {
    const RecordWrite& done = writes.at(i);
    what += " " + tell_version(done.collection + "/" + done.key, (*versions)[i]);
  }
  return what;
}

std::string World::together(Dice& dice) {
  const Dice first = dice;
  const Known before = known_;
  std::string what;
  const Result<void> done = store().together([&](Writes& in) {
    dice = first;
    known_ = before;
    what = "together";
    for (std::size_t i = 1 + dice.below(5); i > 0; --i) {
      const std::size_t kind = dice.below(6);
      what += "\n  " + (kind == 0   ? update(dice, in)
                        : kind == 1 ? lease(dice, in)
                        : kind == 2 ? write(dice, in)
                                    : append(dice, in));
    }
  });
  return done.has_value() ? what : what + " → " + failed(done);
}

std::string World::scan(Dice& dice) {
  ScanRange range;
  range.collection = dice.one_in(2) ? "runs" : "usage";
  if (dice.one_in(2)) range.from = "key" + std::to_string(dice.below(6));
  if (dice.one_in(2)) range.to = "key" + std::to_string(dice.below(6));
  range.direction = dice.one_in(2) ? Direction::kForward : Direction::kBackward;
  range.limit = 1 + dice.below(5);
  std::string what = "scan " + range.collection + " [" + range.from + ", " + range.to + ") " +
                     std::to_string(range.limit) + " →";
  const Result<std::vector<Record>> records = store().scan(range);
  if (!records.has_value()) return what + " " + failed(records);
  for (const Record& record : *records) {
    what += " " + record.key + "=" + record.bytes.substr(0, 20) + "(" +
            std::to_string(record.bytes.size()) + ") " +
            tell_version(range.collection + "/" + record.key, record.version);
  }
  return what;
}

std::string World::feed(Dice& dice) {
  std::string cursor = dice.one_in(3) ? dice.one_of(cursors_) : cursors_.back();
  const std::size_t limit = 1 + dice.below(9);
  std::vector<Change> all;
  while (true) {
    Result<ChangeBatch> batch = store().changes(cursor, limit, 0ms);
    if (!batch.has_value()) return "feed → " + failed(batch);
    cursor = batch->cursor;
    if (batch->changes.empty()) break;
    all.insert(all.end(), batch->changes.begin(), batch->changes.end());
  }
  cursors_.push_back(cursor);
  return "feed by " + std::to_string(limit) + " →" + tell_changes(all);
}

std::string World::check() {
  std::string what = "check →";
  const Result<CheckSummary> summary =
      store().check({}, [&what](const Finding& finding) { what += " " + finding.what; });
  if (!summary.has_value()) return what + " " + failed(summary);
  return what + " health " + std::to_string(static_cast<int>(summary->health)) + ", " +
         std::to_string(summary->threads) + " threads, " + std::to_string(summary->events) +
         " events, " + std::to_string(summary->records) + " records";
}

std::string World::advance(Dice& dice) {
  const auto time = std::chrono::milliseconds(dice.below(6'000));
  if (dice.one_in(6)) {
    backend_.clock().set_wall_by(-time);
    return "set the clock back by " + std::to_string(time.count());
  }
  backend_.clock().advance(time);
  return "wait for " + std::to_string(time.count());
}

std::string World::reopen(bool reboot) {
  wrapped_.reset();
  if (reboot) backend_.clock().reboot();
  backend_.reopen();
  if (wrap_) wrapped_ = wrap_(backend_.store());
  return reboot ? "reboot" : "reopen";
}

}  // namespace skein::test
