#include "thread/event_cost.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "core/json.h"
#include "skein/context.h"
#include "skein/tokens.h"
#include "thread/event_kind.h"

namespace skein {
namespace {

constexpr std::array<std::string_view, 5> kContentFields = {"content", "attachments", "images",
                                                            "files", "parts"};

// What other programs call an image: "image", "image_url", "input_image"; also audio and the like,
// for which there is no better guess.
bool is_media(const boost::json::object& object) {
  const boost::json::value* type = object.if_contains("type");
  if (type == nullptr || !type->is_string()) return false;
  const std::string_view name = type->get_string();
  return name.find("image") != std::string_view::npos ||
         name.find("audio") != std::string_view::npos ||
         name.find("video") != std::string_view::npos || name == "file" || name == "document";
}

std::uint64_t content_tokens(const boost::json::value& value) {
  std::uint64_t tokens = 0;
  if (value.is_string()) {
    const std::string_view text = value.get_string();
    return text.starts_with("data:") ? kImageTokens : count_tokens(text);
  }
  if (value.is_array()) {
    for (const boost::json::value& entry : value.get_array()) tokens += content_tokens(entry);
  } else if (value.is_object()) {
    if (is_media(value.get_object())) return kImageTokens;
    for (const auto& member : value.get_object()) {
      if (member.key() != "type") tokens += content_tokens(member.value());
    }
  }
  return tokens;
}

EventCost extra_cost(const Event& event) {
  EventCost cost;
  if (event.extra.empty()) return cost;
  boost::system::error_code error;
  const boost::json::value extra = boost::json::parse(event.extra.text(), error);
  if (error || !extra.is_object()) return cost;
  for (const auto& member : extra.get_object()) {
    const std::string_view name = member.key();
    if (std::find(kContentFields.begin(), kContentFields.end(), name) == kContentFields.end()) {
      continue;
    }
    cost += {content_tokens(member.value()), true};
  }
  return cost;
}

struct TextTokens {
  std::uint64_t operator()(const Message& message) const { return count_tokens(message.text); }
  std::uint64_t operator()(const ToolUse& call) const {
    return count_tokens(call.name) + count_tokens(call.input.text());
  }
  std::uint64_t operator()(const AssistantText& said) const { return count_tokens(said.text); }
  std::uint64_t operator()(const RunResult&) const { return 0; }
  std::uint64_t operator()(const Unreadable&) const { return 0; }
};

EventCost cost_with(const Event& event, const std::optional<std::uint32_t>& given) {
  if (!is_for_model(kind_of(event))) return {};
  EventCost cost{kMessageOverhead, false};
  cost.tokens += given ? *given : std::visit(TextTokens{}, event.payload);
  cost += extra_cost(event);
  return cost;
}

}  // namespace

EventCost cost_of(const Event& event) { return cost_with(event, std::nullopt); }

EventCost cost_as_given(const Event& event) { return cost_with(event, event.tokens); }

}  // namespace skein
