// What a benchmark says: one row for each piece of work, with its ratio to what it is measured
// against.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::bench {

struct Row {
  std::string work;
  std::string figure;   // what was measured, with its unit
  std::string against;  // what it is compared with, and that figure
  double value = 0;     // the ratio, or the figure where the goal is absolute
  double goal = 0;
  bool at_most = false;  // the goal is an upper bound
  std::string unit;      // of value and goal: "×", "MB/s", …

  bool reached() const { return at_most ? value <= goal : value >= goal; }
};

// An aligned table for people.
std::string to_table(const std::vector<Row>& rows);
// An array of objects, one line.
std::string to_json(const std::vector<Row>& rows);

// "12,345/s", "3.2 ms" and the like.
std::string per_second(double rate);
std::string megabytes_per_second(double bytes_per_second);
std::string duration(double seconds);

double median(std::vector<double> values);

using Progress = std::function<void(std::string_view doing)>;

}  // namespace skein::bench
