// Short words for describing routes.
#pragma once

#include <string>
#include <string_view>

#include "http/route.h"
#include "http/v1/shapes.h"

namespace skein::http::v1 {

// The header of an answer that was given before.
inline constexpr const char* kIdempotentReplayed = "Idempotent-Replayed";

Parameter in_path(std::string name, const Shape& shape, std::string about);
Parameter in_query(std::string name, const Shape& shape, std::string about);
Parameter repeated(Parameter parameter);
Parameter required(Parameter parameter);

// "limit", from 1 to `max`.
Parameter limit_parameter(std::size_t standard, std::size_t max);
Parameter cursor_parameter();
Parameter agent_parameter();     // "agentId", in the query
Parameter metadata_parameter();  // "metadata", a filter

Parameter idempotency_parameter(std::string about);
Parameter last_event_id_parameter();

BodySpec takes(Shape shape);
BodySpec may_take(Shape shape);
ResponseSpec gives(int status, std::string about, Shape shape);
ResponseSpec gives_nothing(std::string about);  // 204
ResponseSpec streams(std::string about);        // text/event-stream

// Happens once for each Idempotency-Key of a caller: the answer of the first time is given again.
Route once(Route route);

// Belongs to the workspace and to no agent: not for keys that are bound to agents.
Route workspace_wide(Route route);

// With what every route of /v1 may answer besides, and with headers refused that it would ignore.
Route finished(Route route);

}  // namespace skein::http::v1
