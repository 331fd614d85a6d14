#include "http/options.h"

#include "core/checked_fields.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein::http {
namespace {

// Counts and times of the configuration, each with what it may be.
struct Field {
  const char* name;
  std::int64_t min;
  std::int64_t max;
};

template <class T>
void take(CheckedFields& fields, const Field& field, T& target) {
  if (const auto value = fields.whole(field.name, field.min, field.max)) {
    target = static_cast<T>(*value);
  }
}

void take_ms(CheckedFields& fields, const char* name, std::chrono::milliseconds& target) {
  if (const auto value = fields.whole(name, 10, 86'400'000)) {
    target = std::chrono::milliseconds(*value);
  }
}

constexpr std::int64_t kMega = 1 << 20;

// What a browser never sends would never match.
bool is_origin(std::string_view text) {
  const std::size_t colon = text.find("://");
  if (colon == 0 || colon == std::string_view::npos) return false;
  const std::string_view host = text.substr(colon + 3);
  return !host.empty() && text.find_first_of("*?#@ ") == std::string_view::npos &&
         host.find('/') == std::string_view::npos;
}

bool is_host(std::string_view text) {
  return !text.empty() && text.find_first_of("*/?#@ ") == std::string_view::npos;
}

Result<void> check_names(const ServerOptions& options) {
  for (const std::string& origin : options.origins) {
    if (is_origin(origin)) continue;
    return fail(ErrorCode::kInvalid,
                "\"origins\" must be as browsers send them, SCHEME://HOST or "
                "SCHEME://HOST:PORT, got " +
                    quote(origin));
  }
  for (const std::string& host : options.hosts) {
    if (is_host(host)) continue;
    return fail(ErrorCode::kInvalid,
                "\"hosts\" must be HOST or HOST:PORT, without a pattern, got " + quote(host));
  }
  return {};
}

}  // namespace

Result<ServerOptions> read_server_options(const Json& object) {
  ServerOptions options;
  if (object.empty()) return options;
  std::string problem;
  {
    CheckedFields fields(object.text(), "server", [&](std::string field, std::string reason) {
      if (problem.empty()) problem = "\"" + field + "\" " + reason;
    });
    options.address = fields.text("address").value_or(options.address);
    take(fields, {"port", 0, 65'535}, options.port);
    options.hosts = fields.texts("hosts", 100);
    options.origins = fields.texts("origins", 100);
    take(fields, {"threads", 1, 256}, options.threads);
    take(fields, {"maxConnections", 1, 1'000'000}, options.max_connections);
    take(fields, {"maxStreams", 1, 1'000'000}, options.max_streams);
    take(fields, {"maxStreamsPerKey", 1, 1'000'000}, options.max_streams_per_key);
    take(fields, {"maxHeaderBytes", 1024, kMega}, options.max_header_bytes);
    take(fields, {"maxBodyBytes", 1024, 1024 * kMega}, options.max_body_bytes);
    take(fields, {"maxBufferedBytes", kMega, 65'536 * kMega}, options.max_buffered_bytes);
    take(fields, {"maxQueuedRequests", 1, 1'000'000}, options.max_queued_requests);
    take(fields, {"maxRequestsPerSecond", 1, 1'000'000}, options.max_requests_per_second);
    take_ms(fields, "headerTimeoutMs", options.header_timeout);
    take_ms(fields, "bodyTimeoutMs", options.body_timeout);
    take_ms(fields, "idleTimeoutMs", options.idle_timeout);
    take_ms(fields, "writeTimeoutMs", options.write_timeout);
    take_ms(fields, "heartbeatMs", options.heartbeat);
    take_ms(fields, "drainMs", options.drain);
    options.audit_file = fields.text("auditFile").value_or("");
    options.log_requests = fields.flag("logRequests").value_or(false);
  }
  if (!problem.empty()) return fail(ErrorCode::kInvalid, problem);
  SKEIN_TRY(check_names(options));
  return options;
}

}  // namespace skein::http
