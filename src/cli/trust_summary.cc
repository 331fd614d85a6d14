#include "cli/trust_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/quote.h"
#include "core/visible.h"

namespace skein {
namespace {

constexpr std::size_t kMostNamed = 8;
constexpr std::size_t kShownBytes = 72;

using Names = std::vector<std::string>;

void add(Names& names, std::string_view name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

// Takes the words from the front of the line, if they are there.
bool take(std::string_view& line, std::string_view words) {
  if (!line.starts_with(words)) return false;
  line.remove_prefix(words.size());
  return true;
}

class ShortReview {
 public:
  void add_definition(const Definition& definition) {
    ++definitions_;
    constexpr std::string_view kFile = "file:";
    if (definition.name.starts_with(kFile)) {
      add(programs_, quote(definition.name.substr(kFile.size()), kShownBytes));
    }
    for (const std::string& line : definition.allows) add_line(line);
  }

  std::string text(std::size_t records) const {
    std::string out = fmt::format("In short: {} to trust", counted(definitions_, "definition"));
    if (records > 0) out += fmt::format(", {} to sign", counted(records, "record"));
    out += "\n";
    add_names("programs", programs_, out);
    add_names("addresses", addresses_, out);
    add_names("variables", variables_, out);
    return out;
  }

 private:
  static std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  }

  static void add_names(std::string_view what, const Names& names, std::string& out) {
    if (names.empty()) return;
    out += fmt::format("  {} ({}): ", what, names.size());
    for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) {
      out += (i > 0 ? ", " : "") + visible_line(excerpt(names[i], kShownBytes));
    }
    if (names.size() > kMostNamed) out += fmt::format(" and {} more", names.size() - kMostNamed);
    out += "\n";
  }

  // A line of a definition begins with what it does.
  void add_line(std::string_view line) {
    if (line.starts_with("MCP server ")) line.remove_prefix(std::min(line.find(": "), line.size()));
    take(line, ": ");
    if (take(line, "runs the program ") || take(line, "runs ")) {
      constexpr std::string_view kAll = " with all environment variables";
      if (line.ends_with(kAll)) {
        line.remove_suffix(kAll.size());
        add(variables_, "all");
      }
      add(programs_, line);
    } else if (take(line, "sends conversations to ") || take(line, "sends to ") ||
               take(line, "keeps everything in the store ") ||
               take(line, "makes vectors of messages with ")) {
      add(addresses_, line);
    } else if (take(line, "reads the environment variable ")) {
      add(variables_, line);
    }
  }

  std::size_t definitions_ = 0;
  Names programs_;
  Names addresses_;
  Names variables_;
};

}  // namespace

std::string trust_summary(const TrustReview& review) {
  ShortReview summary;
  for (const Definition& definition : review.pending()) summary.add_definition(definition);
  return summary.text(review.records.size());
}

}  // namespace skein
