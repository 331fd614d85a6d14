#include "cli/table.h"

#include <algorithm>

namespace skein {
namespace {

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += cells[i];
    if (i + 1 == cells.size()) break;
    line.append(widths[i] - display_width(cells[i]) + 2, ' ');
  }
  return line;
}

}  // namespace

void Table::add(std::vector<std::string> cells, std::string json) {
  if (context_.json()) {
    objects_.push_back(std::move(json));
    return;
  }
  for (std::string& cell : cells) cell = visible_line(cell);
  rows_.push_back(std::move(cells));
}

void Table::print() {
  if (context_.json()) return print_json();
  if (rows_.empty()) return;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < headings_.size(); ++i) {
    widths.push_back(headings_[i].size());
    for (const auto& row : rows_) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  context_.out().write(context_.style().paint(Tone::kStrong, line_of(headings_, widths)) + "\n");
  for (const auto& row : rows_) context_.out().write(line_of(row, widths) + "\n");
}

void Table::print_json() {
  std::string_view separator = "[";
  for (const std::string& object : objects_) {
    context_.out().write(separator);
    context_.out().write(object);
    separator = ",\n ";
  }
  context_.out().write(objects_.empty() ? "[]\n" : "]\n");
}

}  // namespace skein
