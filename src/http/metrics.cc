#include "http/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace skein::http {
namespace {

const std::vector<double> kSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                      0.1,    0.25,  0.5,    1,     2.5,  5,     10};
const std::vector<double> kSizes = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096};

std::vector<double> powers_of_two(std::size_t count) {
  std::vector<double> powers;
  for (double power = 1; powers.size() < count; power *= 2) powers.push_back(power);
  return powers;
}

void begin(std::string& out, std::string_view name, std::string_view help, std::string_view type) {
  fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)),
      buckets_(std::make_unique<std::atomic<std::uint64_t>[]>(bounds_.size() + 1)) {}

Histogram::Histogram(std::vector<double> bounds, std::span<const std::uint64_t> counts, double sum)
    : Histogram(std::move(bounds)) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    buckets_[i] = counts[i];
    count_ += counts[i];
  }
  sum_ = sum;
}

void Histogram::add(double value) {
  const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  buckets_[static_cast<std::size_t>(bound - bounds_.begin())].fetch_add(1,
                                                                        std::memory_order_relaxed);
  count_.fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

void Histogram::write(std::string& out, std::string_view name, std::string_view labels) const {
  const auto to = std::back_inserter(out);
  const std::string_view comma = labels.empty() ? "" : ",";
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    below += buckets_[i].load(std::memory_order_relaxed);
    fmt::format_to(to, "{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma, bounds_[i], below);
  }
  below += buckets_[bounds_.size()].load(std::memory_order_relaxed);
  fmt::format_to(to, "{}_bucket{{{}{}le=\"+Inf\"}} {}\n", name, labels, comma, below);
  const std::string braced = labels.empty() ? "" : fmt::format("{{{}}}", labels);
  fmt::format_to(to, "{}_sum{} {}\n", name, braced, sum_.load(std::memory_order_relaxed));
  fmt::format_to(to, "{}_count{} {}\n", name, braced, below);
}

Metrics::Figures::Figures(std::string with_labels)
    : labels(std::move(with_labels)), seconds(kSeconds) {}

Metrics::Metrics() : batches_(kSizes) {
  routes_.try_emplace(nullptr, "set=\"none\",route=\"none\"");
}

void Metrics::add_routes(const RouteSet& set) {
  for (const Route& route : set.routes) {
    routes_.try_emplace(&route, fmt::format("set=\"{}\",route=\"{}\"", set.name, route.name));
  }
}

void Metrics::request(const Route* route, int status, double seconds) {
  auto found = routes_.find(route);
  if (found == routes_.end()) found = routes_.find(nullptr);
  found->second.seconds.add(seconds);
  const auto index = static_cast<std::size_t>(std::clamp(status / 100, 0, 5));
  found->second.by_class[index].fetch_add(1, std::memory_order_relaxed);
}

std::string Metrics::text(const std::vector<Gauge>& gauges, const CommitSizes& commits) const {
  std::string out;
  const auto to = std::back_inserter(out);
  begin(out, "skein_http_requests_total", "Requests by their answer.", "counter");
  for (const auto& [route, figures] : routes_) {
    for (std::size_t i = 1; i < figures.by_class.size(); ++i) {
      const auto count = figures.by_class[i].load(std::memory_order_relaxed);
      if (count == 0) continue;
      fmt::format_to(to, "skein_http_requests_total{{{},status=\"{}xx\"}} {}\n", figures.labels, i,
                     count);
    }
  }
  begin(out, "skein_http_request_seconds",
        "From the head of a request to its answer; of streams, to their head.", "histogram");
  for (const auto& [route, figures] : routes_) {
    if (figures.seconds.count() == 0) continue;
    figures.seconds.write(out, "skein_http_request_seconds", figures.labels);
  }
  begin(out, "skein_append_batch_size", "Appends that shared one call of the store.", "histogram");
  batches_.write(out, "skein_append_batch_size", "");
  begin(out, "skein_commit_size", "Calls of the store that shared one commit.", "histogram");
  Histogram(powers_of_two(CommitSizes::kBounds), commits.commits,
            static_cast<double>(commits.calls))
      .write(out, "skein_commit_size", "");
  for (const Gauge& gauge : gauges) {
    begin(out, gauge.name, gauge.help, gauge.counter ? "counter" : "gauge");
    fmt::format_to(to, "{} {}\n", gauge.name, gauge.value);
  }
  return out;
}

}  // namespace skein::http
