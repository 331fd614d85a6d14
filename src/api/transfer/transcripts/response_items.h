// Items of OpenAI's Responses API, which Codex keeps as they are.
#pragma once

#include <variant>

#include "api/transfer/transcripts/event_maker.h"

namespace skein {

// What became of an item: an event, or the kind under which it is left out.
using ItemOutcome = std::variant<Event, std::string>;

// `item` is a valid JSON object. Messages that a program, not a person, put into the mouth of the
// user are left out.
ItemOutcome event_of_response_item(RawJson item, EventMaker& make);

// Whether an item is what the model answered with.
bool is_by_model(RawJson item);

}  // namespace skein
