#include "http/options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

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

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace

Result<void> check_server_options(const ServerOptions& options) {
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

Result<void> take_server_environment(ServerOptions& options) {
  if (const auto address = variable("SKEIN_ADDRESS")) options.address = *address;
  if (const auto hosts = variable("SKEIN_HOSTS")) options.hosts = split_at_commas(*hosts);
  if (const auto origins = variable("SKEIN_ORIGINS")) options.origins = split_at_commas(*origins);
  if (const auto file = variable("SKEIN_AUDIT_FILE")) options.audit_file = *file;
  const auto port = variable("SKEIN_PORT");
  if (!port) return {};
  const auto [end, error] =
      std::from_chars(port->data(), port->data() + port->size(), options.port);
  if (error == std::errc() && end == port->data() + port->size()) return {};
  return fail(ErrorCode::kInvalid,
              "the environment variable SKEIN_PORT must be 0 to 65535, got " + quote(*port));
}

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
  SKEIN_TRY(check_server_options(options));
  return options;
}

}  // namespace skein::http
