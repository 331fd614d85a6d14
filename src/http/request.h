// One request, as handlers get it: read whole, checked, and from somebody who is known.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/http_client.h"
#include "skein/clock.h"
#include "skein/error.h"
#include "skein/thread.h"

namespace skein::http {

// What a route asks for, and what a key gives; each includes those before it.
enum class Access { kOpen, kRead, kWrite, kAdmin };

const char* to_string(Access access);  // "open", "read", "write", "admin"
Result<Access> parse_access(std::string_view text);

// Who asks: a key, or, as long as the server is open because there are no keys, anybody.
struct Caller {
  std::string key_id;                    // empty: no key
  std::string name;                      // of the key, for people
  Access access = Access::kOpen;         // what it may do
  bool all_agents = false;               // or else only
  std::vector<std::string> agents = {};  // these

  bool may(Access wanted) const { return access >= wanted; }
  // Threads of other agents are not there for it: faces answer as for an unknown id.
  bool sees(std::string_view agent_id) const;
};

struct Request {
  std::string id;      // of this request: in the answer's X-Request-Id and in logs
  std::string method;  // "GET"
  std::string path;    // as it came, without the query
  std::vector<std::pair<std::string, std::string>> parameters;  // of the path, decoded
  std::vector<std::pair<std::string, std::string>> queries;     // decoded, in order
  std::vector<HttpHeader> headers;                              // as they came
  std::string body;  // valid by the route's schema, if it has one
  Caller caller;
  // Where the route says that it is about a thread (AgentOf::kThread, kRun): the thread, which
  // exists and which the caller sees.
  std::optional<Manifest> thread;
  // Its id. On the I/O thread this is all there is: nobody has looked whether there is such a
  // thread.
  std::optional<ThreadId> thread_id;
  // Of an `audited` route: why nothing may be changed now; empty: it may.
  std::string read_only;
  // Asked for when the server stops.
  std::stop_token stop;
  // Of a route with a thread of its own: asked for when the client has gone away.
  std::stop_token gone;

  // Of the path; the route has it, or this is a bug.
  const std::string& parameter(std::string_view name) const;
  // Of the query: the first of that name.
  std::optional<std::string> query(std::string_view name) const;
  std::vector<std::string> all_queries(std::string_view name) const;
  // kInvalid names the parameter and the rule. Nothing: it is not there.
  Result<std::optional<std::uint64_t>> query_number(std::string_view name, std::uint64_t min,
                                                    std::uint64_t max) const;
  Result<std::optional<bool>> query_flag(std::string_view name) const;  // "true", "false"
  Result<std::optional<Timestamp>> query_time(std::string_view name) const;
  // Whatever the case of its name; nothing: it is not there.
  std::optional<std::string> header(std::string_view name) const;
};

// Whatever the case of its name; null: it is not there.
const std::string* find_header(const std::vector<HttpHeader>& headers, std::string_view name);
bool is_header(const HttpHeader& header, std::string_view name);

// Percent-decodes. Nothing: a broken escape, or what it stands for is not UTF-8 or has a NUL.
std::optional<std::string> decode_percent(std::string_view text, bool plus_is_space);

}  // namespace skein::http
