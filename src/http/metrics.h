// What the server counts, as Prometheus reads it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/route.h"
#include "skein/store.h"

namespace skein::http {

// Thread-safe.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds);
  void add(double value);
  // What was counted elsewhere: as many counts as bounds and one more.
  Histogram(std::vector<double> bounds, std::span<const std::uint64_t> counts, double sum);
  // The lines of one histogram; `labels` without braces, or empty.
  void write(std::string& out, std::string_view name, std::string_view labels) const;
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  const std::vector<double> bounds_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> buckets_;  // one more than bounds
  std::atomic<std::uint64_t> count_{0};
  std::atomic<double> sum_{0};
};

// Figures of the moment, collected by whoever is asked for metrics.
struct Gauge {
  std::string name;
  std::string help;
  double value = 0;
  bool counter = false;
};

// Thread-safe once all routes were added.
class Metrics {
 public:
  Metrics();
  void add_routes(const RouteSet& set);

  // `route` null: no route had it.
  void request(const Route* route, int status, double seconds);
  void batch(std::size_t appends) { batches_.add(static_cast<double>(appends)); }

  std::string text(const std::vector<Gauge>& gauges, const CommitSizes& commits) const;

 private:
  struct Figures {
    explicit Figures(std::string with_labels);
    const std::string labels;  // set="v1",route="appendEvents"
    Histogram seconds;
    std::array<std::atomic<std::uint64_t>, 6> by_class{};  // of the status: 2xx is [2]
  };

  std::map<const Route*, Figures> routes_;
  Histogram batches_;
};

}  // namespace skein::http
