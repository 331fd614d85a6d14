#include "crash/harness/trace.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>

namespace skein::crash {
namespace {

bool is_flush(const TracedCall& call) { return call.name == "fsync" || call.name == "fdatasync"; }

// "fdatasync(5</folder/file>) = 0" → "/folder/file"
std::string flushed_path(const std::string& line) {
  const std::size_t begin = line.find('<');
  const std::size_t end = line.find('>', begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  return line.substr(begin + 1, end - begin - 1);
}

// The journal's line that this call sent.
std::optional<std::string> journal_line(const TracedCall& call) {
  if (call.name != "sendto") return std::nullopt;
  const std::size_t begin = call.line.find('"');
  const std::size_t end = call.line.find("\\n\"", begin);
  if (begin == std::string::npos || end == std::string::npos) return std::nullopt;
  return call.line.substr(begin + 1, end - begin - 1);
}

// Whether one of its parts was acknowledged. Answer 0: there was nothing to do, and nothing was
// done.
bool acknowledges(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word != "done") return false;
  words >> word >> word;
  while (words >> word) {
    if (!word.starts_with('!') && word != "0") return true;
  }
  return false;
}

}  // namespace

std::vector<TracedCall> parse_trace(std::string_view text) {
  std::vector<TracedCall> calls;
  std::map<int, std::string> halves;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const int thread = std::atoi(line.c_str());
    const std::size_t begin = line.find_first_not_of("0123456789 ");
    if (begin == std::string::npos) continue;
    std::string rest = line.substr(begin);
    if (const std::size_t cut = rest.find(" <unfinished ...>"); cut != std::string::npos) {
      halves[thread] = rest.substr(0, cut);
      continue;
    }
    if (rest.starts_with("<... ")) {
      const std::size_t end = rest.find(" resumed>");
      if (end == std::string::npos) continue;
      rest = halves[thread] + rest.substr(end + std::string_view(" resumed>").size());
    }
    const std::size_t name_end = rest.find('(');
    if (name_end == std::string::npos || !std::isalpha(static_cast<unsigned char>(rest[0])))
      continue;
    TracedCall call;
    call.thread = thread;
    call.name = rest.substr(0, name_end);
    call.failed = rest.find(" = -1 ") != std::string::npos;
    call.injected = rest.find("(INJECTED)") != std::string::npos;
    call.line = std::move(rest);
    calls.push_back(std::move(call));
  }
  return calls;
}

std::map<std::string, std::vector<int>> calls_under(const std::vector<TracedCall>& trace,
                                                    const std::string& folder) {
  std::map<std::pair<int, std::string>, int> count;
  std::map<std::string, std::set<int>> found;
  for (const TracedCall& call : trace) {
    const int number = ++count[{call.thread, call.name}];
    if (call.line.find(folder) != std::string::npos) found[call.name].insert(number);
  }
  std::map<std::string, std::vector<int>> result;
  for (const auto& [name, numbers] : found) result[name].assign(numbers.begin(), numbers.end());
  return result;
}

std::vector<std::string> broken_flush_promises(const std::vector<TracedCall>& trace,
                                               const std::string& settled_folder) {
  std::vector<std::string> broken;
  std::set<std::string> failed;
  bool open = false;
  bool settled = false;
  bool answered = false;  // the operation that met the failure
  for (const TracedCall& call : trace) {
    if (is_flush(call) && flushed_path(call.line) == settled_folder) {
      if (!open && !call.failed) settled = true;
      if (settled) continue;
    }
    if (is_flush(call) && open) {
      const std::string path = flushed_path(call.line);
      if (failed.contains(path)) broken.push_back("flushed again after it failed: " + call.line);
      if (call.failed) failed.insert(path);
      continue;
    }
    const auto line = journal_line(call);
    if (!line) continue;
    if (*line == "opened" || *line == "closed") {
      open = *line == "opened";
      if (!open) settled = false;
      answered = false;
      failed.clear();
    }
    if (failed.empty()) continue;
    const bool partly_failed = line->find("!io") != std::string::npos;
    if (acknowledges(*line) && (answered || !partly_failed))
      broken.push_back("acknowledged after a failed flush of " + *failed.begin() + ": " + *line);
    answered = answered || line->starts_with("done");
  }
  return broken;
}

}  // namespace skein::crash
