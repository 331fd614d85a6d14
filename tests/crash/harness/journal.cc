#include "crash/harness/journal.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace skein::crash {

JournalWriter::JournalWriter(int fd) : fd_(fd) {
  struct stat status{};
  socket_ = ::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

void JournalWriter::line(std::string text) {
  text += '\n';
  const ssize_t written = socket_ ? ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL)
                                  : ::write(fd_, text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size())) {
    std::perror("journal");
    std::_Exit(9);
  }
}

std::string workload_line(const Workload& workload) {
  return fmt::format("workload {} {} {} {}", workload.seed, workload.writers,
                     workload.shared_threads, workload.one_thread_only ? 1 : 0);
}

std::string outcome_text(const Result<std::uint64_t>& result) {
  return result ? std::to_string(*result) : fmt::format("!{}", to_string(result.error().code));
}

namespace {

Outcome parse_outcome(const std::string& text) {
  if (text.starts_with('!')) return {.answer = {}, .error = text.substr(1)};
  return {.answer = std::strtoull(text.c_str(), nullptr, 10), .error = {}};
}

}  // namespace

std::string doubt_after(std::string_view journal, std::size_t offset) {
  std::string doubted(journal.substr(0, offset));
  std::istringstream lines{std::string(journal.substr(std::min(offset, journal.size())))};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    std::string writer;
    std::string number;
    words >> kind >> writer >> number;
    doubted += fmt::format("{} {} {}", kind, writer, number);
    for (std::string answer; words >> answer;) doubted += " !io";
    doubted += '\n';
  }
  return doubted;
}

Result<Journal> Journal::parse(std::string_view text) {
  Journal journal;
  text = text.substr(0, text.rfind('\n') + 1);
  std::istringstream lines{std::string(text)};
  bool has_workload = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "workload") {
      Workload& workload = journal.workload;
      words >> workload.seed >> workload.writers >> workload.shared_threads >>
          workload.one_thread_only;
      journal.done.resize(static_cast<std::size_t>(workload.writers));
      has_workload = !words.fail();
    } else if (kind == "done") {
      std::size_t writer = 0;
      std::uint64_t number = 0;
      words >> writer >> number;
      if (words.fail() || writer >= journal.done.size())
        return fail(ErrorCode::kInvalid, "not a line of a journal: " + line);
      auto& outcomes = journal.done[writer][number];
      for (std::string word; words >> word;) outcomes.push_back(parse_outcome(word));
    } else if (kind != "opened" && kind != "closed") {
      return fail(ErrorCode::kInvalid, "not a line of a journal: " + line);
    }
  }
  if (!has_workload) return fail(ErrorCode::kNotFound, "the journal names no workload");
  return journal;
}

Result<Journal> Journal::load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorCode::kNotFound, "cannot read " + path);
  return parse(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::uint64_t Journal::acknowledged() const {
  std::uint64_t count = 0;
  for (const auto& writer : done) {
    for (const auto& [number, outcomes] : writer)
      count += static_cast<std::uint64_t>(std::count_if(
          outcomes.begin(), outcomes.end(), [](const Outcome& o) { return o.acknowledged(); }));
  }
  return count;
}

}  // namespace skein::crash
