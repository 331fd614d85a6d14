#include <fmt/format.h>

#include <algorithm>

#include "api/work/answers.h"
#include "core/json.h"
#include "core/quotation.h"
#include "core/text.h"

namespace skein {
namespace {

constexpr std::size_t kLineBytes = 300;
constexpr std::size_t kMostValues = 10;

// On one line, cut between characters.
std::string line_of(std::string_view text, std::size_t max_bytes = kLineBytes) {
  const bool cut = text.size() > max_bytes;
  std::string line(beginning(text, max_bytes));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return cut ? line + "…" : line;
}

std::string day_of(Timestamp time) { return time.str().substr(0, 10); }

void add_values(std::string& out, std::string_view heading, const std::vector<Json>& values) {
  for (std::size_t i = 0; i < std::min(values.size(), kMostValues); ++i) {
    const std::string& json = values[i].text();
    out += fmt::format("- {}: {}\n", heading, line_of(json_to_string(json).value_or(json)));
  }
  if (values.size() > kMostValues) {
    out += fmt::format("- {}: {} more\n", heading, values.size() - kMostValues);
  }
}

void add_items(std::string& out, const StartedSession& started) {
  if (started.total_open == 0) {
    out += "\nNothing is open.\n";
    return;
  }
  out += fmt::format("\n## Open ({})\n", started.total_open);
  for (const ListedItem& listed : started.open_items) {
    out += fmt::format("- {} {} ({}, since {})\n", listed.item.id, line_of(listed.item.text),
                       listed.details->vitality.word, day_of(listed.item.created_at));
  }
  if (started.total_open > started.open_items.size()) {
    out += fmt::format("- {} more: list_threads, or skein item list\n",
                       started.total_open - started.open_items.size());
  }
}

void add_left_behind(std::string& out, const StartedSession& started) {
  const LeftBehind& left = *started.left_behind;
  out += fmt::format(
      "\nSession {}, closed {}, more than 14 days ago, left {} open {} that {} not carried over. "
      "To "
      "take {}:\nskein session start --session {} --carry-from {}\n",
      left.session_id, day_of(left.closed_at), left.open, left.open == 1 ? "item" : "items",
      left.open == 1 ? "was" : "were", left.open == 1 ? "it" : "them", started.session.id,
      left.session_id);
}

void add_state(std::string& out, const ProjectState& state) {
  out += fmt::format("\n## Project state{}{}\n", state.project.empty() ? "" : ": ",
                     line_of(state.project));
  for (const auto& [key, text] : state.next)
    out += fmt::format("- next {}: {}\n", key, line_of(text));
  for (const auto& [key, text] : state.notes) out += fmt::format("- {}: {}\n", key, line_of(text));
  if (!state.done.empty()) {
    std::string done;
    for (const std::string& key : state.done) done += " " + key;
    out += fmt::format("- done:{}\n", line_of(done));
  }
  if (state.next.empty() && state.notes.empty() && state.done.empty()) {
    out += fmt::format("- {}\n", line_of(state.text));
  }
}

void add_repository(std::string& out, const RepositoryNews& news) {
  out += fmt::format("\n## Repository: {} at {}, {} files changed\n", line_of(news.branch),
                     news.head.empty() ? "no commit" : news.head.substr(0, 7), news.changed_files);
  for (const auto& [commit, subject] : news.commits) {
    out += fmt::format("- new: {} {}\n", commit, line_of(subject));
  }
  if (news.more_commits) out += "- and older new commits\n";
}

void add_checkpoints(std::string& out, const std::vector<CheckpointEntry>& checkpoints) {
  if (checkpoints.empty()) return;
  out += "\n## Last checkpoints\n";
  for (const CheckpointEntry& checkpoint : checkpoints) {
    out += fmt::format("- {} {}\n", checkpoint.id, line_of(checkpoint.summary));
  }
}

void add_last(std::string& out, const WorkSession& last) {
  out +=
      fmt::format("\n## Last session ({}, closed {})\n", line_of(last.agent), last.closed_at.str());
  if (!last.summary.empty()) out += line_of(last.summary, 2 * kLineBytes) + "\n";
  add_values(out, "decided", last.decisions);
  add_values(out, "learned", last.learnings);
}

std::string heading(const WorkSession& session) {
  return fmt::format("# Working session {}\n", session.id);
}

std::string body(const StartedSession& started) {
  const WorkSession& session = started.session;
  std::string out = fmt::format("Agent {}, project {}, started {}.\n", line_of(session.agent),
                                line_of(session.project), session.started_at.str());
  for (const std::string& warning : started.warnings) {
    out += fmt::format("Warning: {}\n", line_of(warning, 2 * kLineBytes));
  }
  if (started.project_state) add_state(out, *started.project_state);
  add_items(out, started);
  if (started.left_behind) add_left_behind(out, started);
  if (started.last) add_last(out, *started.last);
  add_checkpoints(out, started.checkpoints);
  if (started.repository) add_repository(out, *started.repository);
  if (!started.unclosed.empty()) {
    out += "\n## Never closed\n";
    for (const WorkSession& other : started.unclosed) {
      out += fmt::format("- {} (started {}): skein session close --session {}\n", other.id,
                         other.started_at.str(), other.id);
    }
  }
  if (started.older_unclosed > 0) {
    out += fmt::format(
        "\n{} more {} never closed, started more than 24 hours ago. List: skein session list, or "
        "session_start with all_unclosed. Close: skein session close --stale, or session_close "
        "with stale.\n",
        started.older_unclosed, started.older_unclosed == 1 ? "session was" : "sessions were");
  }
  return out;
}

}  // namespace

std::string session_start_text(const StartedSession& started) {
  return heading(started.session) + body(started);
}

std::string session_start_for_model(const StartedSession& started) {
  return heading(started.session) +
         quoted_record("What earlier sessions left, and where the work stands.", body(started));
}

}  // namespace skein
