#include "api/transfer/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/try.h"
#include "store/codec.h"
#include "store/line.h"

namespace skein {
namespace {

// Reads all events, handing each to `write`, which says whether it went well.
Result<void> for_each_event(Store& store, ThreadId thread,
                            const std::function<Result<void>(const Event&)>& write) {
  Result<void> written;
  SKEIN_TRY(store.read(thread, ReadRange{}, [&](Event& event) {
    written = write(event);
    return written.has_value();
  }));
  return written;
}

std::size_t longest_run(std::string_view text, char c) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char found : text) {
    run = found == c ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

// A code block that nothing in `text` can end.
std::string fenced(std::string_view text, std::string_view language) {
  const std::string fence(std::max<std::size_t>(3, longest_run(text, '`') + 1), '`');
  return fmt::format("{}{}\n{}\n{}\n", fence, language, text, fence);
}

// Stored text inside a heading or a list: on one line.
std::string on_one_line(std::string_view text) {
  std::string out(text);
  std::replace_if(out.begin(), out.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return out;
}

std::string heading(const Event& event, std::string_view what) {
  std::string out =
      fmt::format("## {}. {} · {}", event.seq, on_one_line(what), event.timestamp.str());
  if (event.memory_type) out += fmt::format(" · {}", to_string(*event.memory_type));
  if (event.base) out += fmt::format(" · continues from {}", *event.base);
  return out + "\n\n";
}

struct BodyWriter {
  const Event& event;

  std::string operator()(const Message& message) const {
    return heading(event, to_string(message.role)) + message.text + "\n";
  }
  std::string operator()(const AssistantText& said) const {
    return heading(event, "assistant, in passing") + said.text + "\n";
  }
  std::string operator()(const ToolUse& use) const {
    return heading(event, "tool " + use.name) + fenced(use.input.text(), "json");
  }
  std::string operator()(const RunResult&) const {
    Event bare = event;
    bare.metadata = {};
    bare.seq = 0;
    return heading(event, "result") + fenced(to_json(bare), "json");
  }
  std::string operator()(const Unreadable& unreadable) const {
    return heading(event, "unreadable") + on_one_line(unreadable.reason) + "\n";
  }
};

std::string markdown_head(const Manifest& manifest) {
  std::string out =
      fmt::format("# {}\n\n", on_one_line(manifest.title.value_or("Thread " + manifest.id.str())));
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) out += fmt::format("- {}: {}\n", name, on_one_line(value));
  };
  add("thread", manifest.id.str());
  add("agent", manifest.agent_id);
  add("status", to_string(manifest.status));
  add("created", manifest.created_at.str());
  add("updated", manifest.updated_at.str());
  add("task", manifest.task_id.value_or(""));
  if (manifest.parent) {
    add("fork of",
        fmt::format("{}, event {}", manifest.parent->thread.str(), manifest.parent->seq));
  }
  add("summary", manifest.summary.value_or(""));
  if (!manifest.metadata.empty()) out += "\n" + fenced(manifest.metadata.text(), "json");
  return out;
}

}  // namespace

Result<std::uint64_t> export_jsonl(Store& store, const Manifest& manifest, ThreadIdIn where,
                                   const TextSink& sink) {
  std::string line;
  if (where == ThreadIdIn::kLine) {
    line = whole_json(manifest);
  } else {
    append_manifest_open(line, manifest);
    line += '}';
  }
  SKEIN_TRY(sink(line + "\n"));
  std::uint64_t left_out = 0;
  SKEIN_TRY(for_each_event(store, manifest.id, [&](const Event& event) -> Result<void> {
    if (std::holds_alternative<Unreadable>(event.payload)) {
      ++left_out;
      return {};
    }
    line.clear();
    append_event_line(line, event, event.seq);
    return sink(line);
  }));
  return left_out;
}

Result<void> export_markdown(Store& store, const Manifest& manifest, const TextSink& sink) {
  SKEIN_TRY(sink(markdown_head(manifest)));
  return for_each_event(store, manifest.id, [&](const Event& event) {
    std::string text = "\n" + std::visit(BodyWriter{event}, event.payload);
    if (!event.metadata.empty()) text += "\n" + fenced(event.metadata.text(), "json");
    return sink(text);
  });
}

}  // namespace skein
