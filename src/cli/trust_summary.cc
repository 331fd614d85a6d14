#include "cli/trust_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/percent.h"
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

// The members of a PostgreSQL URL's query that choose the server, whatever stands before it, as
// libpq reads them: `host "evil.example"`. Empty: none does.
std::string hosts_in_query(std::string_view address) {
  std::string hosts;
  for (std::size_t at = address.find('?'); at < address.size();) {
    const std::size_t end = std::min(address.find_first_of("&\"", at + 1), address.size());
    const std::string_view member = address.substr(at + 1, end - at - 1);
    const std::string name = percent_decoded(member.substr(0, member.find('=')));
    if (name == "host" || name == "hostaddr" || name.starts_with("service")) {
      const std::string value =
          percent_decoded(member.substr(std::min(member.find('='), member.size() - 1) + 1));
      hosts += fmt::format("{}{} {}", hosts.empty() ? "" : ", ", name, quote(value));
    }
    at = end;
  }
  return hosts;
}

// An address cut to a few words, but never within its host: what decides where something goes is
// the end of that.
std::string short_address(std::string_view address) {
  if (const std::string hosts = hosts_in_query(address); !hosts.empty()) {
    return fmt::format("{} ({})", address, hosts);
  }
  constexpr std::size_t kMostHost = 300;
  const std::size_t scheme = address.find("://");
  const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t end = std::min(address.find_first_of("/?#\\", host), address.size());
  std::string shown(address.substr(0, host));
  if (end - host > kMostHost) {
    shown.append("…").append(address.substr(end - kMostHost, kMostHost));
  } else {
    shown += address.substr(host, end - host);
  }
  if (end == address.size()) return shown;
  const std::size_t room = shown.size() < kShownBytes ? kShownBytes - shown.size() : 1;
  return shown + excerpt(address.substr(end), room);
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
    add_names("variables that are set", set_, out);
    add_names("folders outside", folders_, out);
    return out;
  }

 private:
  static std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  }

  void add_names(std::string_view what, const Names& names, std::string& out) const {
    if (names.empty()) return;
    out += fmt::format("  {} ({}): ", what, names.size());
    for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) {
      const bool address = &names == &addresses_;
      out += (i > 0 ? ", " : "") +
             visible_line(address ? short_address(names[i]) : excerpt(names[i], kShownBytes));
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
      add_key_variables(line);
    } else if (take(line, "reads the environment variable ")) {
      add(variables_, line);
    } else if (take(line, "sets ")) {
      add(set_, line.substr(0, line.find(" to ")));
    } else if (take(line, "works in the folder ")) {
      add(folders_, line.substr(0, line.rfind(", outside")));
    }
  }

  // The URL of an embedder names the variable whose value goes there.
  void add_key_variables(std::string_view url) {
    constexpr std::string_view kName = "keyVariable=";
    for (auto at = url.find(kName); at != std::string_view::npos; at = url.find(kName, at)) {
      at += kName.size();
      add(variables_, quote(url.substr(at, url.find_first_of("&#\"", at) - at)));
    }
  }

  std::size_t definitions_ = 0;
  Names programs_;
  Names addresses_;
  Names variables_;
  Names set_;
  Names folders_;
};

}  // namespace

std::string trust_summary(const TrustReview& review) {
  ShortReview summary;
  for (const Definition& definition : review.pending()) summary.add_definition(definition);
  return summary.text(review.records.size());
}

}  // namespace skein
