#include "bench/scale_bench.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <random>

#include "bench/postgres_server.h"
#include "bench/workload.h"
#include "core/try.h"

namespace skein::bench {
namespace {

constexpr std::size_t kAgents = 10;
constexpr std::size_t kSmallest = 10'000;

struct Figures {
  std::size_t threads = 0;
  double create_rate = 0;
  double append_rate = 0;
  double get = 0;   // seconds
  double list = 0;  // seconds
};

// One store that grows.
class Growth {
 public:
  explicit Growth(const BenchOptions& options) : options_(options) {}

  Result<void> open() {
    std::string url = "sqlite:" + options_.folder + "/scale.db";
    if (!options_.store.empty() && options_.store.starts_with("postgres")) {
      SKEIN_ASSIGN(PostgresScratch made, PostgresScratch::make(options_.store));
      scratch_ = std::make_unique<PostgresScratch>(std::move(made));
      url = scratch_->store_url();
    }
    SKEIN_ASSIGN(store_, open_store(url));
    return {};
  }

  Result<Figures> grow_to(std::size_t threads) {
    Figures figures{.threads = threads};
    options_.say(fmt::format("growing to {} threads", threads));
    const std::size_t missing = threads - ids_.size();
    const Stopwatch creating;
    for (std::size_t agent = 0; agent < kAgents; ++agent) {
      SKEIN_ASSIGN(const auto made,
                   create_threads(*store_, fmt::format("agent-{}", agent), missing / kAgents));
      ids_.insert(ids_.end(), made.begin(), made.end());
    }
    figures.create_rate = static_cast<double>(missing) / creating.seconds();
    SKEIN_ASSIGN(const auto appended,
                 run_appends(*store_, ids_, {64, options_.quick ? 6'400u : 32'000u, false, true}));
    figures.append_rate = appended.rate;
    if (scratch_) SKEIN_TRY(scratch_->analyze());
    SKEIN_TRY(look_up(figures));
    return figures;
  }

 private:
  Result<void> look_up(Figures& figures) {
    options_.say(fmt::format("looking up among {} threads", ids_.size()));
    std::mt19937_64 random(1);
    std::vector<double> get, list;
    ListQuery query;
    for (int round = 0; round < 15; ++round) {
      constexpr std::size_t kGets = 500;
      constexpr std::size_t kLists = 20;
      const Stopwatch getting;
      for (std::size_t n = 0; n < kGets; ++n) SKEIN_TRY(store_->get(ids_[random() % ids_.size()]));
      get.push_back(getting.seconds() / kGets);
      const Stopwatch listing;
      for (std::size_t n = 0; n < kLists; ++n) {
        query.agent_id = fmt::format("agent-{}", n % kAgents);
        SKEIN_TRY(store_->list(query));
      }
      list.push_back(listing.seconds() / kLists);
    }
    figures.get = median(get);
    figures.list = median(list);
    return {};
  }

  const BenchOptions& options_;
  std::unique_ptr<PostgresScratch> scratch_;
  std::unique_ptr<Store> store_;
  std::vector<ThreadId> ids_;
};

Result<void> scale(const BenchOptions& options, std::vector<Row>& rows) {
  Growth growth(options);
  SKEIN_TRY(growth.open());
  std::optional<Figures> first;
  for (std::size_t threads = kSmallest; threads <= options.threads; threads *= 10) {
    SKEIN_ASSIGN(const Figures now, growth.grow_to(threads));
    if (!first) first = now;
    const std::string name = fmt::format("among {} threads", threads);
    const auto add = [&](const char* what, std::string figure, std::string before, double ratio,
                         double goal, bool at_most) {
      rows.push_back({fmt::format("{} {}", what, name), std::move(figure),
                      fmt::format("among {} {}", first->threads, before), ratio, goal, at_most,
                      "×"});
    };
    add("get by id", duration(now.get), duration(first->get), now.get / first->get, 2, true);
    add("newest 50 of an agent", duration(now.list), duration(first->list), now.list / first->list,
        2, true);
    add("append at random", per_second(now.append_rate), per_second(first->append_rate),
        now.append_rate / first->append_rate, 0.25, false);
    add("create", per_second(now.create_rate), per_second(first->create_rate),
        now.create_rate / first->create_rate, 0.25, false);
  }
  return {};
}

}  // namespace

std::span<const Part> scale_bench_parts() {
  static const Part kParts[] = {{"growth", scale}};
  return kParts;
}

}  // namespace skein::bench
