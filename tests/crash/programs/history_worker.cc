// A client of a store that writes down what it did and saw (harness/history.h).
//
//   history_worker create URL COUNT                  makes threads, and says their ids
//   history_worker run URL NAME WRITERS READERS APPENDS BUG THREAD…
//                                                    each writer makes that many appends; says the
//                                                    history. APPENDS 0: until standard input ends
//   history_worker check URL FILE THREAD…            says what is wrong with a history, and figures
//
// BUG is "none", or one that the check must find: "forgets" (acknowledges what it did not write),
// "repeats" (writes again without the key), "stale" (reads what was there before).

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "crash/harness/history.h"
#include "crash/harness/journal.h"
#include "crash/harness/process.h"

namespace {

using namespace skein;
using namespace skein::crash;

constexpr std::chrono::milliseconds kPause{20};

struct Plan {
  std::string name;
  int writers = 1;
  int readers = 1;
  int appends = 0;
  std::string bug;
  std::vector<ThreadId> threads;
};

class Worker {
 public:
  Worker(Store& store, Plan plan) : store_(store), plan_(std::move(plan)), out_(STDOUT_FILENO) {}

  void run() {
    std::jthread follower([this](const std::stop_token& stop) { follow(stop); });
    {
      std::vector<std::jthread> readers;
      for (int i = 0; i < plan_.readers; ++i)
        readers.emplace_back([this, i](const std::stop_token& stop) { read(i, stop); });
      std::vector<std::jthread> writers;
      for (int i = 0; i < plan_.writers; ++i) writers.emplace_back([this, i] { write(i); });
      if (plan_.appends == 0) {
        pollfd input{STDIN_FILENO, POLLIN, 0};
        while (::poll(&input, 1, -1) < 0) {
        }
        over_ = true;
      }
    }
  }

 private:
  std::string bug_of(int number) const { return number % 7 == 3 ? plan_.bug : ""; }

  void write(int writer) {
    std::mt19937_64 random(std::hash<std::string>{}(plan_.name) + static_cast<unsigned>(writer));
    for (int i = 0; !over_ && (plan_.appends == 0 || i < plan_.appends); ++i) {
      Append append;
      append.thread = plan_.threads[random() % plan_.threads.size()];
      const std::string value = fmt::format("{}-{}-{}", plan_.name, writer, i);
      append.event.payload = Message{Role::kUser, value};
      append.event.key = value;
      const std::int64_t begin = monotonic_ns();
      const Seq seq = append_until_told(append, bug_of(i));
      out_.line(fmt::format("append {} {} {} {} {}", append.thread.str(), value, begin,
                            monotonic_ns(), seq));
    }
  }

  // Whoever was not told whether it happened tries again, with the same key.
  Seq append_until_told(Append& append, const std::string& bug) {
    if (bug == "forgets") {
      const auto manifest = store_.get(append.thread);
      if (manifest && *manifest) return (*manifest)->last_seq + 1;
    }
    for (;;) {
      const auto answers = store_.append({&append, 1});
      if (answers[0] && bug == "repeats") {
        append.event.key += "-again";
        (void)store_.append({&append, 1});
      }
      if (answers[0]) return answers[0]->seq;
      if (answers[0].error().code != ErrorCode::kIo) {
        std::fprintf(stderr, "%s\n", answers[0].error().message.c_str());
        return 0;
      }
      pause_for(kPause);
    }
  }

  void read(int reader, const std::stop_token& stop) {
    std::mt19937_64 random(static_cast<unsigned>(reader));
    std::map<ThreadId, std::string> before;
    for (int i = 0; !stop.stop_requested(); ++i) {
      const ThreadId thread = plan_.threads[random() % plan_.threads.size()];
      std::string values;
      const std::int64_t begin = monotonic_ns();
      const auto done = store_.read(thread, {}, [&](Event& event) {
        const auto* message = std::get_if<Message>(&event.payload);
        values += (values.empty() ? "" : ",") + (message ? message->text : "unreadable");
        return true;
      });
      const std::int64_t end = monotonic_ns();
      if (!done) continue;
      if (values.empty()) values = "-";
      if (!before.contains(thread)) before[thread] = values;
      if (bug_of(i) == "stale") values = before[thread];
      out_.line(fmt::format("read {} {} {} {}", thread.str(), begin, end, values));
      // Lists that grow without end are looked at less often.
      pause_for(std::chrono::milliseconds(plan_.appends == 0 ? 300 : 2));
    }
  }

  void follow(const std::stop_token& stop) {
    std::string cursor;
    // When all writing is over, what is left is read to its end.
    while (true) {
      const bool over = stop.stop_requested();
      const std::int64_t begin = monotonic_ns();
      const auto batch = store_.changes(cursor, 1000, std::chrono::milliseconds(100));
      if (over && batch && batch->changes.empty()) {
        out_.line(fmt::format("followed {}", begin));
        return;
      }
      if (!batch) {
        pause_for(kPause);
        continue;
      }
      std::string lines;
      for (const Change& change : batch->changes) {
        if (change.kind != ChangeKind::kAppended) continue;
        lines +=
            fmt::format("{}fed {} {}", lines.empty() ? "" : "\n", change.thread.str(), change.seq);
      }
      if (!lines.empty()) out_.line(lines);
      cursor = batch->cursor;
    }
  }

  Store& store_;
  const Plan plan_;
  JournalWriter out_;
  std::atomic<bool> over_ = false;
};

int create(Store& store, int count) {
  for (int i = 0; i < count; ++i) {
    NewThread thread;
    thread.agent_id = "history";
    const auto made = store.create(thread);
    if (!made) return 3;
    std::printf("%s\n", made->id.str().c_str());
  }
  return 0;
}

int check(Store& store, const std::string& file, const std::vector<std::string>& threads) {
  History history;
  const auto lists = read_lists(store, threads);
  if (!lists || !history.add(read_file(file))) return 3;
  const auto anomalies = find_anomalies(history, *lists, true);
  for (const std::string& anomaly : anomalies) std::printf("anomaly: %s\n", anomaly.c_str());
  std::uint64_t lost = 0;
  for (const std::string& anomaly : anomalies) lost += anomaly.ends_with("is lost") ? 1 : 0;
  std::printf("acknowledged %llu lost %llu anomalies %zu gap_ms %lld\n",
              static_cast<unsigned long long>(history.acknowledged()),
              static_cast<unsigned long long>(lost), anomalies.size(),
              static_cast<long long>(history.longest_gap() / 1'000'000));
  return anomalies.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 3) return 2;
  auto store = open_store(arguments[1]);
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    return 3;
  }
  if (arguments[0] == "create") return create(**store, std::atoi(argv[3]));
  if (arguments[0] == "check")
    return check(**store, arguments[2], {arguments.begin() + 3, arguments.end()});
  if (arguments[0] != "run" || arguments.size() < 8) return 2;
  Plan plan{arguments[2],       std::atoi(argv[4]), std::atoi(argv[5]),
            std::atoi(argv[6]), arguments[6],       {}};
  for (std::size_t i = 7; i < arguments.size(); ++i) {
    const auto id = ThreadId::parse(arguments[i]);
    if (!id) return 2;
    plan.threads.push_back(*id);
  }
  Worker(**store, std::move(plan)).run();
  return 0;
}
