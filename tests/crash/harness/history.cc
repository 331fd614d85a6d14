#include "crash/harness/history.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "core/try.h"

namespace skein::crash {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  if (text == "-") return parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

class Checker {
 public:
  Checker(const History& history, const FinalLists& lists) : history_(history), lists_(lists) {}

  std::vector<std::string> run(bool all_fed) {
    check_lists();
    check_appends();
    check_reads();
    for (const auto& client : history_.fed) check_feed(client);
    if (all_fed) check_fed_to_the_end();
    return std::move(anomalies_);
  }

 private:
  const std::vector<std::string>& list(const std::string& thread) const {
    static const std::vector<std::string> kNone;
    const auto found = lists_.find(thread);
    return found == lists_.end() ? kNone : found->second;
  }
  template <class... Parts>
  void anomaly(fmt::format_string<Parts...> text, Parts&&... parts) {
    anomalies_.push_back(fmt::format(text, std::forward<Parts>(parts)...));
  }

  void check_lists() {
    std::set<std::pair<std::string, std::string>> tried;
    for (const History::Append& append : history_.appends)
      tried.emplace(append.thread, append.value);
    for (const auto& [thread, values] : lists_) {
      std::set<std::string> seen;
      for (const std::string& value : values) {
        if (!seen.insert(value).second) anomaly("{}: {} is there twice", thread, value);
        if (!tried.contains({thread, value})) anomaly("{}: nobody wrote {}", thread, value);
      }
    }
  }

  void check_appends() {
    for (const History::Append& append : history_.appends) {
      if (append.seq == 0) continue;
      const auto& values = list(append.thread);
      const bool there = append.seq <= values.size() && values[append.seq - 1] == append.value;
      if (there) continue;
      const bool elsewhere = std::find(values.begin(), values.end(), append.value) != values.end();
      anomaly("{}: {} was acknowledged as {} and is {}", append.thread, append.value, append.seq,
              elsewhere ? "elsewhere" : "lost");
    }
  }

  void check_reads() {
    // What a read that begins at some time must see: all that was acknowledged, or seen by a read
    // that was over, before.
    std::map<std::string, std::vector<std::pair<std::int64_t, std::size_t>>> known;
    for (const History::Append& append : history_.appends) {
      if (append.seq > 0) known[append.thread].emplace_back(append.end, append.seq);
    }
    for (const History::Read& read : history_.reads)
      known[read.thread].emplace_back(read.end, read.values.size());
    for (auto& [thread, times] : known) {
      std::sort(times.begin(), times.end());
      std::size_t most = 0;
      for (auto& [end, length] : times) length = most = std::max(most, length);
    }
    for (const History::Read& read : history_.reads) {
      const auto& values = list(read.thread);
      const bool prefix = read.values.size() <= values.size() &&
                          std::equal(read.values.begin(), read.values.end(), values.begin());
      if (!prefix) anomaly("{}: a read saw another order, or what is lost", read.thread);
      const auto& times = known[read.thread];
      const auto after =
          std::lower_bound(times.begin(), times.end(), std::pair(read.begin, std::size_t{0}));
      const std::size_t least = after == times.begin() ? 0 : std::prev(after)->second;
      if (read.values.size() < least)
        anomaly("{}: a stale read saw {} values where {} were known", read.thread,
                read.values.size(), least);
    }
  }

  void check_feed(const std::map<std::string, std::vector<Seq>>& client) {
    for (const auto& [thread, seqs] : client) {
      for (std::size_t i = 0; i < seqs.size(); ++i) {
        if (seqs[i] == i + 1) continue;
        anomaly("{}: the feed told of {} where {} comes next", thread, seqs[i], i + 1);
        break;
      }
    }
  }

  // A process follows until its own writers are done. The one that ends last sees everything.
  void check_fed_to_the_end() {
    const auto last = std::max_element(history_.followed.begin(), history_.followed.end());
    if (last == history_.followed.end() || *last == 0)
      return anomaly("nobody followed the feed to its end");
    const auto& client = history_.fed[static_cast<std::size_t>(last - history_.followed.begin())];
    for (const auto& [thread, values] : lists_) {
      const auto found = client.find(thread);
      const std::size_t told = found == client.end() ? 0 : found->second.size();
      if (told != values.size())
        anomaly("{}: the feed told of {} events, and there are {}", thread, told, values.size());
    }
  }

  const History& history_;
  const FinalLists& lists_;
  std::vector<std::string> anomalies_;
};

}  // namespace

std::int64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

Result<void> History::add(std::string_view text) {
  auto& told = fed.emplace_back();
  std::int64_t& end_of_feed = followed.emplace_back();
  const std::size_t end = text.rfind('\n');
  std::istringstream stream(std::string(text.substr(0, end == text.npos ? 0 : end)));
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "append") {
      Append append;
      words >> append.thread >> append.value >> append.begin >> append.end >> append.seq;
      if (words) appends.push_back(std::move(append));
    } else if (kind == "read") {
      Read read;
      std::string values;
      words >> read.thread >> read.begin >> read.end >> values;
      read.values = split(values);
      if (words) reads.push_back(std::move(read));
    } else if (kind == "fed") {
      std::string thread;
      Seq seq = 0;
      words >> thread >> seq;
      if (words) told[thread].push_back(seq);
    } else if (kind == "followed") {
      words >> end_of_feed;
    }
    if (!words) return fail(ErrorCode::kInvalid, "not a line of a history: " + line);
  }
  return {};
}

std::uint64_t History::acknowledged() const {
  return static_cast<std::uint64_t>(std::count_if(
      appends.begin(), appends.end(), [](const Append& append) { return append.seq > 0; }));
}

std::int64_t History::longest_gap() const {
  std::vector<std::int64_t> times;
  for (const Append& append : appends) {
    if (append.seq > 0) times.push_back(append.end);
  }
  std::sort(times.begin(), times.end());
  std::int64_t longest = 0;
  for (std::size_t i = 1; i < times.size(); ++i)
    longest = std::max(longest, times[i] - times[i - 1]);
  return longest;
}

Result<FinalLists> read_lists(Store& store, const std::vector<std::string>& threads) {
  FinalLists lists;
  for (const std::string& thread : threads) {
    SKEIN_ASSIGN(const ThreadId id, ThreadId::parse(thread));
    auto& values = lists[thread];
    SKEIN_TRY(store.read(id, {}, [&](Event& event) {
      const auto* message = std::get_if<Message>(&event.payload);
      values.push_back(message ? message->text : "unreadable");
      return true;
    }));
  }
  return lists;
}

std::vector<std::string> find_anomalies(const History& history, const FinalLists& lists,
                                        bool all_fed) {
  return Checker(history, lists).run(all_fed);
}

}  // namespace skein::crash
