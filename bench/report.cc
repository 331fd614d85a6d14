#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/json.h"

namespace skein::bench {
namespace {

std::string number(double value) {
  return fmt::format("{:.{}f}", value, value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

// Columns, not bytes: the few characters beyond ASCII here are one column wide.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string padded(const std::string& text, std::size_t columns) {
  return text + std::string(columns - std::min(columns, width(text)), ' ');
}

}  // namespace

std::string to_table(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> cells = {
      {"work", "measured", "against", "ratio or figure", "goal", ""}};
  for (const Row& row : rows) {
    cells.push_back({row.work, row.figure, row.against, number(row.value) + " " + row.unit,
                     (row.at_most ? "≤ " : "≥ ") + number(row.goal),
                     row.reached() ? "ok" : "MISSED"});
  }
  std::vector<std::size_t> widths(cells[0].size());
  for (const auto& line : cells) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  }
  std::string out;
  for (const auto& line : cells) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) text += padded(line[i], widths[i]) + "  ";
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string to_json(const std::vector<Row>& rows) {
  std::string out = "[";
  for (const Row& row : rows) {
    if (out.size() > 1) out += ',';
    const auto member = [&out](std::string_view name, std::string_view text) {
      out += fmt::format("\"{}\":", name);
      append_json_string(out, text);
      out += ',';
    };
    out += '{';
    member("work", row.work);
    member("measured", row.figure);
    member("against", row.against);
    member("unit", row.unit);
    out += fmt::format("\"value\":{:.4f},\"goal\":{:.4f},\"atMost\":{},\"reached\":{}}}", row.value,
                       row.goal, row.at_most, row.reached());
  }
  return out + "]";
}

std::string per_second(double rate) {
  std::string digits = fmt::format("{:.0f}", rate);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits + "/s";
}

std::string megabytes_per_second(double bytes_per_second) {
  return fmt::format("{:.0f} MB/s", bytes_per_second / 1e6);
}

std::string duration(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

double median(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace skein::bench
