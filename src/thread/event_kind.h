// What an event is to a context, and what its metadata says of its place there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "skein/event.h"
#include "skein/summary.h"

namespace skein {

// The letters are those of the stored index.
enum class EventKind : char {
  kUser = 'u',
  kAssistant = 'a',
  kSystem = 's',
  kToolResponse = 't',
  kToolCall = 'c',
  kNarration = 'n',
  kRunResult = 'r',
  kSummary = 'm',
  kUndo = 'o',
  kUnreadable = 'x',
};

EventKind kind_of(const Event& event);

// Whether a model can be shown it: messages, tool calls and narration.
bool is_for_model(EventKind kind);

// metadata.covers of a summary: ranges in rising order, all before the event itself. Nothing if it
// is no summary, or one that does not say so.
std::optional<std::vector<SeqRange>> covers_of(const Event& event);
// `model`: that wrote it; empty: none.
Json covers_metadata(const std::vector<SeqRange>& covers, std::string_view model = {});

// metadata.undoes of an event that undoes a summary.
std::optional<Seq> undoes_of(const Event& event);
Json undoes_metadata(Seq summary);

// metadata.tool_call_id, by which a call and its response belong together; empty if there is none.
std::string tool_call_id(const Event& event);

}  // namespace skein
