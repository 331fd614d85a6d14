#include "cli/show_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <type_traits>

#include "cli/output.h"

namespace skein {
namespace {

constexpr std::string_view kIndent = "      ";

std::string indented(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (!line.empty()) out.append(kIndent).append(line);
    out += '\n';
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

template <class T>
void add_figure(std::string& out, std::string_view name, const std::optional<T>& value) {
  if (value) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, *value);
}

std::string result_text(const RunResult& result) {
  std::string out;
  add_figure(out, "cost", result.cost);
  add_figure(out, "ms", result.duration_ms);
  add_figure(out, "turns", result.turns);
  add_figure(out, "input tokens", result.input_tokens);
  add_figure(out, "output tokens", result.output_tokens);
  add_figure(out, "cached tokens", result.cache_read_tokens);
  return out;
}

// What kind of event it is, and what it says.
struct Shown {
  std::string kind;
  std::string body;
};

Shown shown(const Event& event) {
  return std::visit(
      [](const auto& payload) -> Shown {
        using T = std::decay_t<decltype(payload)>;
        if constexpr (std::is_same_v<T, Message>) {
          return {to_string(payload.role), payload.text};
        } else if constexpr (std::is_same_v<T, ToolUse>) {
          return {"tool_use " + payload.name, payload.input.text()};
        } else if constexpr (std::is_same_v<T, AssistantText>) {
          return {"assistant_text", payload.text};
        } else if constexpr (std::is_same_v<T, RunResult>) {
          return {"result", result_text(payload)};
        } else {
          return {"unreadable: " + payload.reason, payload.raw};
        }
      },
      event.payload);
}

void add_field(std::string& out, std::string_view name, std::string_view value) {
  if (!value.empty()) out += fmt::format("{:<9} {}\n", name, visible_line(value));
}

void add_optional(std::string& out, std::string_view name,
                  const std::optional<std::string>& value) {
  if (value) add_field(out, name, *value);
}

// Long enough to tell, short enough for a row: 2026-01-23 14:30:52.
std::string short_time(Timestamp time) {
  std::string text = time.str().substr(0, 19);
  if (text.size() > 10) text[10] = ' ';
  return text;
}

}  // namespace

std::string event_text(const Event& event) {
  const Shown parts = shown(event);
  std::string out = fmt::format("{:>4}  {}  {}", event.seq, event.timestamp.str(), parts.kind);
  if (event.memory_type) out += fmt::format("  ({})", to_string(*event.memory_type));
  if (event.base) out += fmt::format("  continues from {}", *event.base);
  out += '\n';
  if (!parts.body.empty()) out += indented(parts.body);
  if (!event.metadata.empty()) out += indented("metadata " + event.metadata.text());
  if (!event.extra.empty()) out += indented("also " + event.extra.text());
  return out;
}

std::string manifest_text(const Manifest& manifest) {
  std::string out;
  add_field(out, "thread", manifest.id.str());
  add_optional(out, "alias", manifest.alias);
  add_field(out, "agent", manifest.agent_id);
  add_optional(out, "title", manifest.title);
  add_field(out, "status", to_string(manifest.status));
  add_field(out, "created", manifest.created_at.str());
  add_field(out, "updated", manifest.updated_at.str());
  add_field(out, "events", std::to_string(manifest.last_seq));
  add_optional(out, "task", manifest.task_id);
  add_optional(out, "session", manifest.session_id);
  if (manifest.closed_at) add_field(out, "closed", manifest.closed_at->str());
  add_optional(out, "summary", manifest.summary);
  add_optional(out, "outcome", manifest.resolution);
  if (manifest.parent) {
    add_field(out, "fork of",
              fmt::format("{} at event {}", manifest.parent->thread.str(), manifest.parent->seq));
  }
  if (!manifest.pins.empty())
    add_field(out, "pins", fmt::format("{}", fmt::join(manifest.pins, " ")));
  add_field(out, "metadata", manifest.metadata.text());
  add_field(out, "also", manifest.extra.text());
  return out;
}

std::string manifest_heading(std::size_t agent_width) {
  return fmt::format("{:<12}  {:<{}}  {:<8}  {:>6}  {:<19}  {}\n", "THREAD", "AGENT", agent_width,
                     "STATUS", "EVENTS", "UPDATED (UTC)", "TITLE");
}

std::string manifest_row(const Manifest& manifest, std::size_t agent_width) {
  std::string row = fmt::format("{:<12}  {:<{}}  {:<8}  {:>6}  {:<19}", manifest.id.str(),
                                manifest.agent_id, agent_width, to_string(manifest.status),
                                manifest.last_seq, short_time(manifest.updated_at));
  if (manifest.title) row += "  " + visible_line(*manifest.title);
  return row + "\n";
}

}  // namespace skein
