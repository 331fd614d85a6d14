#include "bench/postgres_bench.h"

#include <fmt/format.h>

#include "bench/postgres_server.h"
#include "bench/workload.h"
#include "core/try.h"

namespace skein::bench {
namespace {

constexpr std::size_t kRounds = 3;
constexpr std::size_t kWriters = 64;

Result<void> appends(const BenchOptions& options, std::vector<Row>& rows) {
  SKEIN_ASSIGN(const PostgresScratch scratch, PostgresScratch::make(options.store));
  SKEIN_ASSIGN(const auto store, open_store(scratch.store_url()));
  SKEIN_ASSIGN(const auto threads, create_threads(*store, "bench", kWriters));
  const std::size_t few = options.quick ? 500 : 5'000;
  const std::size_t many = options.quick ? 6'400 : 96'000;
  const int seconds = options.quick ? 1 : 5;
  std::vector<double> bench_one, bench_all, one, all, keyed, one_ratio, all_ratio, keyed_ratio;
  for (std::size_t round = 0; round < kRounds; ++round) {
    options.say(fmt::format("durable appends, round {} of {}", round + 1, kRounds));
    SKEIN_ASSIGN(const double single_rate, scratch.pgbench(1, seconds));
    SKEIN_ASSIGN(const auto single, run_appends(*store, threads, {1, few, false, false}));
    SKEIN_ASSIGN(const double many_rate, scratch.pgbench(kWriters, seconds));
    SKEIN_ASSIGN(const auto group, run_appends(*store, threads, {kWriters, many, false, false}));
    SKEIN_ASSIGN(const auto with_key, run_appends(*store, threads, {kWriters, many, true, false}));
    bench_one.push_back(single_rate);
    bench_all.push_back(many_rate);
    one.push_back(single.rate);
    all.push_back(group.rate);
    keyed.push_back(with_key.rate);
    one_ratio.push_back(single.rate / single_rate);
    all_ratio.push_back(group.rate / many_rate);
    keyed_ratio.push_back(with_key.rate / many_rate);
  }
  const std::string against = "pgbench, 64 connections " + per_second(median(bench_all));
  rows.push_back({"append, 1 writer, PostgreSQL", per_second(median(one)),
                  "pgbench, 1 connection " + per_second(median(bench_one)), median(one_ratio), 0.6,
                  false, "×"});
  rows.push_back({"append, 64 writers on 64 threads, PostgreSQL", per_second(median(all)), against,
                  median(all_ratio), 1.7, false, "×"});
  rows.push_back({"  with idempotency keys", per_second(median(keyed)), against,
                  median(keyed_ratio), 1, false, "×"});
  return {};
}

}  // namespace

std::span<const Part> postgres_bench_parts() {
  static const Part kParts[] = {{"append", appends}};
  return kParts;
}

}  // namespace skein::bench
