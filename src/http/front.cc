#include "http/front.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/json_object.h"
#include "core/quote.h"
#include "http/request_call.h"

namespace skein::http {
namespace {

constexpr std::size_t kMaxQueries = 200;
constexpr std::chrono::milliseconds kLong{1000};

// "http://host/path", as clients say it to proxies, becomes "/path", and its host the Host: what
// the header said does not count.
tl::expected<void, Problem> split_target(Head& head) {
  const std::string_view target = head.target;
  const std::size_t colon = target.find("://");
  if (target.starts_with('/') || colon == std::string_view::npos) return {};
  const HttpHeader scheme{head.target.substr(0, colon), {}};
  const std::string_view rest = target.substr(colon + 3);
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  const std::string host(rest.substr(0, end));
  const bool known = is_header(scheme, "http") || is_header(scheme, "https");
  if (!known || host.empty() || host.find('@') != std::string::npos) {
    return refuse(400, "bad_target",
                  "a target is a path or http://HOST/PATH, got " + quote(target));
  }
  for (HttpHeader& header : head.headers) {
    if (is_header(header, "host")) header.value = host;
  }
  std::string path(rest.substr(end));
  head.target = path.starts_with('/') ? std::move(path) : "/" + path;
  return {};
}

tl::expected<void, Problem> read_target(std::string_view target, Request& request) {
  const std::size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (!request.path.starts_with('/')) {
    return refuse(400, "bad_target", "a path begins with \"/\", got " + quote(request.path));
  }
  if (question == std::string_view::npos) return {};
  std::string_view rest = target.substr(question + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    auto name = decode_percent(pair.substr(0, equals), true);
    auto value = decode_percent(
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1), true);
    if (!name || !value) {
      return refuse(400, "bad_query",
                    "a query is percent-encoded UTF-8 without NUL, got " + quote(pair));
    }
    if (request.queries.size() == kMaxQueries) {
      return refuse(400, "bad_query",
                    "a query has at most " + std::to_string(kMaxQueries) + " parameters");
    }
    request.queries.emplace_back(std::move(*name), std::move(*value));
  }
  return {};
}

bool is_json_type(std::string_view type) {
  std::string media(type.substr(0, type.find_first_of("; \t")));
  for (char& c : media) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return media == "application/json" || media.ends_with("+json");
}

// In the audit log.
bool leaves_a_line(const Route& route) { return route.access >= Access::kWrite || route.audited; }

}  // namespace

Front::Front(Parts parts)
    : parts_(std::move(parts)),
      origins_(parts_.options),
      rate_(parts_.options.max_requests_per_second),
      id_prefix_(fmt::format("{:08x}", parts_.service.ids().next() & 0xFFFFFFFF)) {}

std::string Front::request_id(const Head& head) {
  const std::string* theirs = find_header(head.headers, "x-request-id");
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  };
  if (theirs != nullptr && !theirs->empty() && theirs->size() <= 64 &&
      std::all_of(theirs->begin(), theirs->end(), plain)) {
    return *theirs;
  }
  return fmt::format("{}-{:x}", id_prefix_, ++next_id_);
}

std::shared_ptr<Call> Front::begin(Head head, std::shared_ptr<Exchange> exchange) {
  auto call = std::make_shared<RequestCall>(*this, std::move(exchange));
  call->request.id = request_id(head);
  call->request.method = head.method;
  call->request.stop = stop_.get_token();
  call->remote = head.remote;
  const auto admitted = admit(*call, head);
  if (!admitted) {
    call->refuse_with(admitted.error());
    return call;
  }
  if (auto answer = preflight(head)) {
    call->respond(std::move(*answer));
    return call;
  }
  call->request.headers = std::move(head.headers);
  return call;
}

tl::expected<void, Problem> Front::admit(RequestCall& call, Head& head) {
  if (auto good = split_target(head); !good) return good;
  if (auto good = read_target(head.target, call.request); !good) return good;
  // Also for those who may not: what they asked for is noted.
  auto matched = parts_.routes.match(head.method, call.request.path);
  if (matched) {
    call.matched = std::move(*matched);
    call.request.parameters = std::move(call.matched->parameters);
  }
  if (auto good = origins_.check(head.headers); !good) return good;
  if (const std::string* origin = find_header(head.headers, "origin")) call.origin = *origin;
  call.cors = origins_.headers_for(call.origin);
  if (preflight(head)) return {};

  const bool open = call.matched && call.matched->route->access == Access::kOpen;
  auto caller = parts_.keys.authenticate(head.headers);
  if (caller) call.request.caller = std::move(*caller);
  if (!caller && !open) return tl::unexpected(std::move(caller.error()));
  if (!call.matched) return tl::unexpected(std::move(matched.error()));

  const Caller& who = call.request.caller;
  const Route& route = *call.matched->route;
  if (!open && !who.may(route.access)) {
    return refuse(403, "forbidden",
                  fmt::format("this needs a key with access {}; this one has {}",
                              to_string(route.access), to_string(who.access)));
  }
  if (stopping_) return tl::unexpected(stopping());
  if (!route.unlimited && !rate_.take(who.key_id, call.started)) {
    Problem problem(429, "too_many_requests",
                    fmt::format("at most {} requests a second with one key",
                                parts_.options.max_requests_per_second));
    problem.headers.push_back({"Retry-After", "1"});
    return tl::unexpected(std::move(problem));
  }
  return admit_body(call, head);
}

tl::expected<void, Problem> Front::admit_body(RequestCall& call, const Head& head) const {
  const Route& route = *call.matched->route;
  if (leaves_a_line(route) && parts_.audit != nullptr) {
    const auto good = parts_.audit->status();
    if (!good && route.access >= Access::kWrite) return tl::unexpected(Problem(good.error()));
    if (!good) call.request.read_only = good.error().message;
  }
  const bool has_body = head.chunked || head.content_length.value_or(0) > 0;
  if (!has_body) return {};
  if (head.content_length.value_or(0) > parts_.options.max_body_bytes) {
    return refuse(413, "too_large",
                  fmt::format("a body has at most {} bytes, this one has {}",
                              parts_.options.max_body_bytes, *head.content_length));
  }
  if (!route.body) return refuse(400, "invalid", "there is nothing to send here");
  const std::string* type = find_header(head.headers, "content-type");
  const bool wants_json = route.body->content_type.starts_with("application/json");
  if (wants_json && (type == nullptr || !is_json_type(*type))) {
    return refuse(415, "unsupported_media_type",
                  "the body must be application/json, not " +
                      (type == nullptr ? std::string("of no type") : quote(*type)));
  }
  return {};
}

std::optional<Response> Front::preflight(const Head& head) const {
  if (head.method != "OPTIONS") return std::nullopt;
  const std::string* origin = find_header(head.headers, "origin");
  const std::string* method = find_header(head.headers, "access-control-request-method");
  if (origin == nullptr || method == nullptr) return std::nullopt;
  Response response = no_content();
  if (origins_.headers_for(*origin).size() > 1) {
    response.header("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
        .header("Access-Control-Allow-Headers",
                "Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, "
                "Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, "
                "X-Api-Key, X-Request-Id")
        .header("Access-Control-Max-Age", "600");
  }
  return response;
}

Response Front::malformed(const Problem& problem) {
  parts_.metrics.request(nullptr, problem.status, 0);
  const std::string id = fmt::format("{}-{:x}", id_prefix_, ++next_id_);
  if (parts_.log && parts_.options.log_requests) {
    JsonObject line;
    line.add("at", parts_.service.clock().now().str()).add("request", id);
    line.add("status", static_cast<std::uint64_t>(problem.status)).add("code", problem.code);
    parts_.log(line.str());
  }
  return problem_response(problem, id);
}

tl::expected<void, Problem> Front::take_stream(RequestCall& call) {
  if (call.counts_as_stream) return {};
  const std::string& key = call.request.caller.key_id;
  const bool too_many = ongoing_.size() >= parts_.options.max_streams;
  if (too_many || streams_by_key_[key] >= parts_.options.max_streams_per_key) {
    Problem problem(
        503, "too_many_streams",
        fmt::format("at most {} streams{} at once",
                    too_many ? parts_.options.max_streams : parts_.options.max_streams_per_key,
                    too_many ? "" : " with one key"));
    problem.headers.push_back({"Retry-After", "5"});
    return tl::unexpected(std::move(problem));
  }
  ++streams_by_key_[key];
  ongoing_.insert(&call);
  call.counts_as_stream = true;
  return {};
}

void Front::let_go_stream(RequestCall& call) {
  if (!std::exchange(call.counts_as_stream, false)) return;
  ongoing_.erase(&call);
  const auto found = streams_by_key_.find(call.request.caller.key_id);
  if (--found->second == 0) streams_by_key_.erase(found);
}

void Front::note(const RequestCall& call, int status) {
  const Route* route = call.matched ? call.matched->route : nullptr;
  const auto took = std::chrono::steady_clock::now() - call.started;
  const double seconds = std::chrono::duration<double>(took).count();
  parts_.metrics.request(route, status, seconds);
  const bool audited = route != nullptr && leaves_a_line(*route) && parts_.audit != nullptr;
  const bool logged = parts_.log && (parts_.options.log_requests || status >= 500 || took > kLong);
  if (!audited && !logged) return;
  JsonObject line;
  line.add("at", parts_.service.clock().now().str()).add("request", call.request.id);
  line.add("key", call.request.caller.key_id).add("remote", call.remote);
  line.add("method", call.request.method).add("path", mended_utf8(call.request.path));
  if (route != nullptr) line.add("route", route->name);
  line.add("status", static_cast<std::uint64_t>(status));
  if (audited) parts_.audit->say(line.str());
  if (logged) {
    line.add_json("ms", fmt::format("{:.3f}", seconds * 1000));
    parts_.log(line.str());
  }
}

void Front::tick(SteadyTime now) {
  for (RequestCall* call : ongoing_) call->look_at_time(now);
}

void Front::keys_changed() {
  const std::vector<RequestCall*> all(ongoing_.begin(), ongoing_.end());
  for (RequestCall* call : all) {
    const bool open = call->matched->route->access == Access::kOpen;
    if (open || parts_.keys.still_counts(call->request.caller.key_id)) continue;
    call->shared_from_this()->lock_out();
  }
}

void Front::stop() {
  stopping_ = true;
  // Each leaves the set as it ends.
  const std::vector<RequestCall*> all(ongoing_.begin(), ongoing_.end());
  for (RequestCall* call : all) call->shared_from_this()->end(false);
}

void Front::end_waiting() {
  stop_.request_stop();
  const std::vector<RequestCall*> all(ongoing_.begin(), ongoing_.end());
  for (RequestCall* call : all) call->shared_from_this()->end(true);
}

}  // namespace skein::http
