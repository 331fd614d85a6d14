// Routes as data. One table drives dispatch, who may, validation, OpenAPI and the docs page.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/service.h"
#include "http/request.h"
#include "http/response.h"
#include "http/schema.h"

namespace skein::http {

// Called on the thread that Route::runs_on names. May block on the store, except on the I/O thread,
// but not on what may take for ever: answer_later, wait_for and streams are for that. A problem is
// worded as its set does it.
using Handler = std::function<Reply(Service& service, Request& request)>;

enum class ParameterIn { kPath, kQuery, kHeader };

struct Parameter {
  std::string name;
  ParameterIn in = ParameterIn::kQuery;
  std::string description;
  // Of the value: {"type":"integer","minimum":1}. Text that is no such value is refused.
  std::string schema = R"({"type":"string"})";
  bool required = false;
  bool repeated = false;  // may be given more than once
};

struct BodySpec {
  std::string schema;  // of application/json; empty: any JSON
  bool required = true;
  std::string content_type = "application/json";  // another one: bytes that nobody looks at
};

struct ResponseSpec {
  int status = 200;
  std::string description;
  std::string schema = {};  // empty: no body
  std::string content_type = "application/json";
};

// What the caller's agents are compared with before the handler runs.
enum class AgentOf {
  kNone,     // nothing that belongs to an agent
  kThread,   // the thread {thread_id} in the path; unknown or not seen: 404. Fills Request::thread
  kRun,      // the run {run_id} in the path: its thread. 404 likewise
  kPath,     // {agent_id} in the path: 403
  kHandler,  // the handler asks caller.sees() itself, for what is named in the query or the body
};

// The thread that a handler is called on.
enum class RunsOn {
  kPool,
  // The thread that does all I/O, for handlers that never block, not even on the store. Applies to
  // small requests of callers that see all agents, and leaves Request::thread empty; others go to
  // the pool.
  kIoThread,
  // A thread for this request alone: the handler may take as long as a run does.
  kOwnThread,
};

struct Route {
  std::string method;
  std::string path;  // "/v1/threads/{thread_id}/events"; {name} is one segment, {name...} the rest
  std::string name;  // for clients: "appendEvents"; unique in its set
  std::string tag;   // what it belongs to: "threads"
  std::string summary;
  std::string description = {};
  Access access = Access::kAdmin;
  // Noted like a write, whatever its access: what it is asked for may change something, unless
  // Request::read_only says why it must not.
  bool audited = false;
  AgentOf agent = AgentOf::kNone;
  std::vector<Parameter> parameters = {};  // those of the path may be left out: they are texts
  // Parameters in a query that it does not name are refused, also where its set ignores them: what
  // was meant to filter must not widen what is found.
  bool strict_query = false;
  std::optional<BodySpec> body = std::nullopt;
  std::vector<ResponseSpec> responses = {};
  RunsOn runs_on = RunsOn::kPool;
  // No limit counts it: whoever looks after the server is answered however often others ask.
  bool unlimited = false;
  // Whether the answer to this request goes on after the handler: it is a stream, or waited for.
  // Then there is room for one more of these before the handler does anything. Absent: that is
  // seen by what the handler answers, and when there is no room, that is abandoned.
  std::function<bool(const Request& request)> goes_on = {};
  Handler handler;
};

struct RouteSet {
  std::string name;  // "v1"
  std::vector<Route> routes;
  ProblemWriter problems = problem_response;
  // Where its problems apply also to paths that no route has: "/v1/".
  std::string prefix = "/";
  bool in_openapi = true;
  // Whether parameters in a query that the route does not name are refused.
  bool strict_queries = true;
  // Gives a request the names that its routes know, before it is checked; absent: it has them.
  // Called again for the same request, it must change nothing.
  std::function<Result<void>(const Route& route, Request& request)> translate = {};
  // Ends what its handlers have others do, and returns when nobody works on that any more. Called
  // when the server stops, while answers still go out.
  std::function<void()> stop = {};
  // Named schemas, for "#/components/schemas/NAME".
  std::vector<std::pair<std::string, std::string>> schemas = {};
};

// A route that matched.
struct Matched {
  const Route* route = nullptr;
  const RouteSet* set = nullptr;
  std::vector<std::pair<std::string, std::string>> parameters;
};

// All routes, ready for look-ups. Immutable, and so thread-safe.
class RouteTable {
 public:
  // kInvalid: two routes for one request, a pattern or a schema that makes no sense.
  static Result<RouteTable> make(std::vector<RouteSet> sets);
  ~RouteTable();
  RouteTable(RouteTable&&) noexcept;
  RouteTable& operator=(RouteTable&&) noexcept;

  // Fixed segments win over {names}. A path that has other methods only: 405, with Allow. HEAD is
  // answered as GET without its body.
  tl::expected<Matched, Problem> match(std::string_view method, std::string_view path) const;
  // The set that words the problems of a path.
  const RouteSet& set_of(std::string_view path) const;
  // Parameters and body, by their schemas.
  Result<void> check(const Matched& matched, const Request& request) const;

  const std::vector<RouteSet>& sets() const;

 private:
  struct Impl;
  explicit RouteTable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace skein::http
