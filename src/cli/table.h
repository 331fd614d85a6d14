// Rows under headings for people, or an array of objects for programs.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace skein {

class Table {
 public:
  Table(Context& context, std::vector<std::string> headings)
      : context_(context), headings_(std::move(headings)) {}

  // As many cells as headings, and the same as a JSON object.
  void add(std::vector<std::string> cells, std::string json);

  // Aligned; nothing at all for people, if there are no rows.
  void print();

 private:
  void print_json();

  Context& context_;
  const std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::string> objects_;
};

}  // namespace skein
