#include "work/checkpoint_index.h"

#include <fmt/format.h>

#include <algorithm>

namespace skein {
namespace {

// Stored text inside one line of Markdown: it ends neither the line nor the cell of a table.
std::string in_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == '\t') {
      out += ' ';
    } else if (c == '|' || c == '<' || c == '[' || c == '`' || c == '*' || c == '\\') {
      out.append("\\").push_back(c);
    } else {
      out += c;
    }
  }
  return out;
}

std::string minute_of(Timestamp time) {
  std::string text = time.str().substr(0, 16);
  std::replace(text.begin(), text.end(), 'T', ' ');
  return text;
}

std::string link_to(const std::string& id) { return fmt::format("[{0}]({0}.json)", in_line(id)); }

}  // namespace

std::string index_markdown(const std::vector<CheckpointEntry>& entries) {
  std::string out = fmt::format(
      "# Checkpoints\n\n{} in all, newest first; times in UTC. Made by Skein: changes are lost.\n\n"
      "| when | checkpoint | title | branch | next steps |\n|---|---|---|---|---|\n",
      entries.size());
  for (const CheckpointEntry& entry : entries) {
    out += fmt::format("| {} | {} | {}{} | {} | {} |\n", minute_of(entry.created_at),
                       link_to(entry.id), entry.type == CheckpointType::kHandoff ? "handoff: " : "",
                       in_line(entry.title), in_line(entry.branch), entry.next_steps);
  }
  return out;
}

std::string recent_markdown(const std::vector<Checkpoint>& checkpoints) {
  std::string out = "# Recent checkpoints\n\nTimes in UTC. Made by Skein: changes are lost.\n";
  for (const Checkpoint& checkpoint : checkpoints) {
    out += fmt::format("\n## {}\n\n{} · {}", in_line(checkpoint.title),
                       minute_of(checkpoint.created_at), link_to(checkpoint.id));
    if (checkpoint.git && checkpoint.git->branch) {
      out += fmt::format(" · {}", in_line(*checkpoint.git->branch));
      if (checkpoint.git->current_commit) {
        out += fmt::format(" {}", in_line(*checkpoint.git->current_commit));
      }
    }
    out += "\n";
    if (!checkpoint.summary.empty()) out += fmt::format("\n{}\n", in_line(checkpoint.summary));
    if (checkpoint.next_steps && !checkpoint.next_steps->empty()) {
      out += "\n";
      for (const std::string& step : *checkpoint.next_steps) {
        out += fmt::format("- [ ] {}\n", in_line(step));
      }
    }
  }
  return out;
}

}  // namespace skein
