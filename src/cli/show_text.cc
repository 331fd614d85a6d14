#include "cli/show_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <type_traits>

#include "cli/output.h"

namespace skein {
namespace {

constexpr std::string_view kIndent = "      ";

std::string indented(std::string_view text, const Style& style) {
  return wrapped(style.stored(text), kIndent, style.width);
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
  Tone tone = Tone::kFaint;
};

Shown shown(const Event& event) {
  return std::visit(
      [](const auto& payload) -> Shown {
        using T = std::decay_t<decltype(payload)>;
        if constexpr (std::is_same_v<T, Message>) {
          return {to_string(payload.role), payload.text, tone_of(payload.role)};
        } else if constexpr (std::is_same_v<T, ToolUse>) {
          return {"tool_use " + payload.name, payload.input.text(), Tone::kMagenta};
        } else if constexpr (std::is_same_v<T, AssistantText>) {
          return {"assistant_text", payload.text, tone_of(Role::kAssistant)};
        } else if constexpr (std::is_same_v<T, RunResult>) {
          return {"result", result_text(payload)};
        } else {
          return {"unreadable: " + payload.reason, payload.raw, Tone::kStrong};
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

// The width of the column of times.
std::size_t time_width(const Style& style) { return style.terminal ? 11 : 19; }

void add_time(std::string& out, std::string_view name, Timestamp time, const Style& style) {
  add_field(out, name,
            style.terminal ? fmt::format("{} ({})", time.str(), style.time(time)) : time.str());
}

std::string archive_text(const Archive& archive, const Style& style) {
  std::string out = archive.at.str();
  if (style.terminal) out += fmt::format(" ({})", style.time(archive.at));
  out += archive.retention_days ? fmt::format(", kept for {} days", *archive.retention_days)
                                : ", kept for ever";
  if (archive.reason) out += ": " + *archive.reason;
  return out;
}

}  // namespace

std::string event_text(const Event& event, const Style& style) {
  const Shown parts = shown(event);
  std::string out = fmt::format("{:>4}  {}  {}", event.seq,
                                style.paint(Tone::kFaint, style.time(event.timestamp)),
                                style.paint(parts.tone, style.stored_line(parts.kind)));
  if (event.memory_type) out += fmt::format("  ({})", to_string(*event.memory_type));
  if (event.base) out += fmt::format("  continues from {}", *event.base);
  out += '\n';
  if (!parts.body.empty()) out += indented(parts.body, style);
  if (!event.metadata.empty()) out += indented("metadata " + event.metadata.text(), style);
  if (!event.extra.empty()) out += indented("also " + event.extra.text(), style);
  return out;
}

std::string message_text(const ThreadMessage& message, const Style& style) {
  Event event;
  event.seq = message.seq;
  event.timestamp = message.created_at;
  event.memory_type = message.memory_type;
  event.metadata = message.metadata;
  event.payload = Message{message.role, message.text};
  return event_text(event, style);
}

std::string manifest_text(const Manifest& manifest, const Style& style) {
  std::string out;
  add_field(out, "thread", manifest.id.str());
  add_optional(out, "alias", manifest.alias);
  add_field(out, "agent", manifest.agent_id);
  add_optional(out, "title", manifest.title);
  out += fmt::format("{:<9} {}\n", "status",
                     style.paint(tone_of(manifest.status), to_string(manifest.status)));
  add_time(out, "created", manifest.created_at, style);
  add_time(out, "updated", manifest.updated_at, style);
  add_field(out, "events", std::to_string(manifest.last_seq));
  add_optional(out, "task", manifest.task_id);
  add_optional(out, "session", manifest.session_id);
  if (manifest.closed_at) add_time(out, "closed", *manifest.closed_at, style);
  add_optional(out, "summary", manifest.summary);
  add_optional(out, "outcome", manifest.resolution);
  if (manifest.archive) add_field(out, "archived", archive_text(*manifest.archive, style));
  if (manifest.parent) {
    add_field(out, "fork of",
              fmt::format("{} at event {}", manifest.parent->thread.str(), manifest.parent->seq));
  }
  if (!manifest.pins.empty())
    add_field(out, "pins", fmt::format("{}", fmt::join(manifest.pins, " ")));
  add_field(out, "metadata", manifest.metadata.text());
  add_field(out, "also", shown_extra(manifest).text());
  return out;
}

std::string manifest_heading(std::size_t agent_width, const Style& style) {
  return style.paint(Tone::kStrong, fmt::format("{:<12}  {:<{}}  {:<8}  {:>6}  {:<{}}  {}",
                                                "THREAD", "AGENT", agent_width, "STATUS", "EVENTS",
                                                style.terminal ? "UPDATED" : "UPDATED (UTC)",
                                                time_width(style), "TITLE")) +
         "\n";
}

std::string manifest_row(const Manifest& manifest, std::size_t agent_width, const Style& style) {
  const std::string updated =
      style.terminal ? style.time(manifest.updated_at) : short_time(manifest.updated_at);
  std::string row = fmt::format(
      "{:<12}  {:<{}}  {}  {:>6}  {:<{}}", manifest.id.str(), manifest.agent_id, agent_width,
      style.paint(tone_of(manifest.status), fmt::format("{:<8}", to_string(manifest.status))),
      manifest.last_seq, updated, time_width(style));
  if (manifest.title) row += "  " + visible_line(*manifest.title);
  return row + "\n";
}

}  // namespace skein
