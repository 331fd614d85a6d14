// What handlers of /v1 have in common: reading requests, and whose things a caller gets to see.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_fields.h"
#include "core/try.h"
#include "http/request.h"
#include "http/response.h"
#include "http/route.h"
#include "skein/store.h"
#include "skein/thread_manager.h"

namespace skein::http::v1 {

template <class T>
using Outcome = tl::expected<T, Problem>;

// The members of the body, which is an object by its schema; none without a body.
JsonFields body_of(const Request& request);

std::optional<std::string> text_in(JsonFields& fields, std::string_view name);
Json json_in(JsonFields& fields, std::string_view name);  // absent, where it is not there
std::optional<std::uint64_t> number_in(JsonFields& fields, std::string_view name);

// "limit" of the query.
Outcome<std::size_t> limit_of(const Request& request, std::size_t standard, std::size_t max);
// The filter "metadata" of the query.
Outcome<std::vector<MetadataEquals>> metadata_of(const Request& request);
// Any text of the query that some function understands.
template <class T>
Outcome<std::optional<T>> parsed(const Request& request, std::string_view name,
                                 Result<T> (*parse)(std::string_view)) {
  const auto typed = request.query(name);
  if (!typed) return std::optional<T>();
  Result<T> value = parse(*typed);
  if (!value) return tl::unexpected(Problem(std::move(value).error()));
  return std::optional<T>(std::move(*value));
}

// What the library has to say of its `field`, where the request has that by another name.
Error called(std::string_view name, std::string_view field, Error error);
template <class T>
Result<T> called(std::string_view name, std::string_view field, Result<T> result) {
  if (!result) result.error() = called(name, field, std::move(result.error()));
  return result;
}

// A position as it is typed. 400 names what it is of.
Outcome<Seq> parse_seq(std::string_view name, std::string_view typed, Seq min);
// One in the path, from 1 on.
Outcome<Seq> seq_in_path(const Request& request, std::string_view name);

// A NewMessage of a body.
NewMessage message_in(RawJson json);

// --- Whose ---

// The agents whose things a list shows.
struct AgentScope {
  bool all = false;                 // or else only
  std::vector<std::string> agents;  // these; there is at least one
};

// That of "agentId" in the query, or of all that the caller sees. 403: an agent that it does not.
Outcome<AgentScope> scope_of(const Request& request);
// 400: no agent's id. 403: the caller does not see it.
Outcome<void> check_sees(const Request& request, std::string_view agent_id);
// The thread that a body or a query names. 404 also where the caller does not see it.
Outcome<Manifest> seen_thread(Service& service, const Request& request, std::string_view ref);

// --- Answers ---

// The manifest with "status", "lastSeq" and "etag".
std::string thread_json(const Manifest& manifest);
// With its ETag.
Response thread_response(int status, const Manifest& manifest);
std::string etag_of(const Manifest& manifest);
// {"<name>":[…],"next":…}. A page may have megabytes: they are never there twice.
std::string page_json(std::string_view name, std::vector<std::string> items,
                      const std::string& next);

// The version that If-Match wants: that of the thread as it is, where it matches. 412: it does not.
Outcome<std::optional<Version>> expected_version(const Request& request, const Manifest& manifest);

}  // namespace skein::http::v1

// As SKEIN_TRY and SKEIN_ASSIGN, for what fails with an Error or with a Problem, in functions that
// fail with a Problem.
#define SKEIN_TRY_OR_REFUSE(...)                                        \
  do {                                                                  \
    if (auto skein_outcome = (__VA_ARGS__); !skein_outcome.has_value()) \
      return tl::unexpected<skein::http::Problem>(                      \
          skein::http::Problem(std::move(skein_outcome).error()));      \
  } while (false)
#define SKEIN_ASSIGN_OR_REFUSE(declaration, ...) \
  SKEIN_ASSIGN_OR_REFUSE_INNER(SKEIN_CONCAT(skein_outcome_, __LINE__), declaration, __VA_ARGS__)
#define SKEIN_ASSIGN_OR_REFUSE_INNER(outcome, declaration, ...)                                    \
  auto outcome = (__VA_ARGS__);                                                                    \
  if (!outcome.has_value())                                                                        \
    return tl::unexpected<skein::http::Problem>(skein::http::Problem(std::move(outcome).error())); \
  declaration = std::move(outcome).value()
