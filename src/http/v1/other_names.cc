#include "http/v1/other_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein::http::v1 {
namespace {

struct Alias {
  std::string_view route;
  std::string_view other;
  std::string_view ours;
};

constexpr std::array<Alias, 8> kMembers = {{
    {"createThread", "agent_id", "agentId"},
    {"createThread", "initialMessages", "messages"},
    {"startRun", "agent_id", "agentId"},
    {"startRun", "thread_id", "threadId"},
    {"startRun", "input", "messages"},
    {"addMessage", "content", "text"},
    {"createTask", "agent_id", "agentId"},
    {"addTrigger", "agent_id", "agentId"},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kParameters = {{
    {"agent_id", "agentId"},
    {"thread_id", "threadId"},
}};

constexpr std::array<Alias, 7> kOrders = {{
    {"listThreads", "newest", "created"},
    {"listThreads", "desc", "created"},
    {"listThreads", "asc", "oldest"},
    {"listMessages", "newest", "desc"},
    {"listMessages", "oldest", "asc"},
    {"listEvents", "newest", "desc"},
    {"listEvents", "oldest", "asc"},
}};

tl::unexpected<Error> twice(const std::string& where, std::string_view ours,
                            std::string_view other) {
  return fail(ErrorCode::kInvalid, where + std::string(ours) + " and " + where +
                                       std::string(other) + " are the same thing: give one");
}

using Members = std::vector<std::pair<std::string, std::string>>;

// Nothing, for what is no JSON object: the schema says what is wrong with it.
std::optional<Members> members_of(std::string_view json) {
  JsonObjectReader reader;
  std::vector<JsonMember> read;
  if (!validate_json(json, "body") || !reader.read(json, read)) return std::nullopt;
  Members members;
  for (const JsonMember& member : read) {
    members.emplace_back(std::string(member.name), std::string(member.value));
  }
  return members;
}

std::string object_of(const Members& members) {
  JsonObject object;
  for (const auto& [name, value] : members) object.add_json(name, value);
  return object.str();
}

bool has(const Members& members, std::string_view name) {
  return std::any_of(members.begin(), members.end(),
                     [name](const auto& member) { return member.first == name; });
}

Result<void> rename(Members& members, const std::string& where, std::string_view other,
                    std::string_view ours) {
  if (!has(members, other)) return {};
  if (has(members, ours)) return twice(where, ours, other);
  for (auto& [name, value] : members) {
    if (name == other) name = ours;
  }
  return {};
}

// {"messages":[…]} of a run's input becomes the list; what else it may have is refused.
Result<void> unwrap_input(Members& members) {
  for (auto member = members.begin(); member != members.end(); ++member) {
    if (member->first != "input") continue;
    const auto inner = members_of(member->second);
    if (!inner) return fail(ErrorCode::kInvalid, "body.input must be an object");
    for (const auto& [name, value] : *inner) {
      if (name != "messages") {
        return fail(ErrorCode::kInvalid, "body.input has \"messages\" alone, got " + quote(name));
      }
    }
    if (inner->empty()) {
      members.erase(member);
    } else {
      member->second = inner->back().second;
    }
    return {};
  }
  return {};
}

Result<std::string> with_texts(std::string_view messages) {
  if (!json_to_array(messages)) return std::string(messages);
  std::vector<std::string> renamed;
  for (const RawJson message : json_elements(messages)) {
    auto members = members_of(message);
    if (members) SKEIN_TRY(rename(*members, "body.messages[].", "content", "text"));
    renamed.push_back(members ? object_of(*members) : std::string(message));
  }
  return json_array_of(renamed);
}

// Most requests have none of these names, and are not taken apart for that.
bool may_have_other_names(const Route& route, std::string_view body) {
  const auto has_name = [&](std::string_view name) {
    return body.find("\"" + std::string(name) + "\"") != std::string_view::npos;
  };
  bool concerned = false;
  for (const Alias& alias : kMembers) {
    if (alias.route != route.name) continue;
    concerned = true;
    if (has_name(alias.other)) return true;
  }
  return concerned && has_name("content");
}

Result<void> rename_members(const Route& route, std::string& body) {
  if (!may_have_other_names(route, body)) return {};
  auto members = members_of(body);
  if (!members) return {};
  if (route.name == "startRun") SKEIN_TRY(unwrap_input(*members));
  for (const Alias& alias : kMembers) {
    if (alias.route == route.name) SKEIN_TRY(rename(*members, "body.", alias.other, alias.ours));
  }
  for (auto& [name, value] : *members) {
    if (name != "messages") continue;
    SKEIN_ASSIGN(value, with_texts(value));
  }
  body = object_of(*members);
  return {};
}

bool takes(const Route& route, std::string_view parameter) {
  return std::any_of(route.parameters.begin(), route.parameters.end(), [&](const Parameter& known) {
    return known.in == ParameterIn::kQuery && known.name == parameter;
  });
}

Result<void> rename_parameters(const Route& route, Request& request) {
  for (const auto& [other, ours] : kParameters) {
    if (!takes(route, ours)) continue;
    if (!request.query(other)) continue;
    if (request.query(ours)) return twice("", ours, other);
    for (auto& [name, value] : request.queries) {
      if (name == other) name = ours;
    }
  }
  for (auto& [name, value] : request.queries) {
    if (name != "order") continue;
    const auto* known = std::find_if(kOrders.begin(), kOrders.end(), [&](const Alias& alias) {
      return alias.route == route.name && alias.other == value;
    });
    if (known != kOrders.end()) value = known->ours;
  }
  return {};
}

}  // namespace

Result<void> use_our_names(const Route& route, Request& request) {
  SKEIN_TRY(rename_parameters(route, request));
  return rename_members(route, request.body);
}

}  // namespace skein::http::v1
