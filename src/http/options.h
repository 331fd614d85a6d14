// How the server is set up: the "server" object of the configuration, and its limits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "skein/error.h"
#include "skein/json.h"

namespace skein::http {

struct ServerOptions {
  std::string address = "127.0.0.1";  // an IP address
  std::uint16_t port = 7171;          // 0: any that is free

  // Names by which clients may call it, besides its address and those of loopback.
  std::vector<std::string> hosts{};
  // Origins of pages that may call it, besides its own; without any there is no CORS.
  std::vector<std::string> origins{};

  std::size_t threads = 0;  // of the pool; 0: as fits the machine
  std::size_t max_connections = 12'000;
  std::size_t max_streams = 4'096;          // that are open, answers that are waited for included
  std::size_t max_streams_per_key = 4'096;  // of one key
  std::size_t max_header_bytes = std::size_t{16} << 10;
  std::size_t max_body_bytes = std::size_t{16} << 20;
  std::size_t max_buffered_bytes = std::size_t{256} << 20;  // bodies of all requests under way
  std::size_t max_queued_requests = 4'096;                  // that wait for the pool
  double max_requests_per_second = 50'000;                  // of one key

  std::chrono::milliseconds header_timeout{10'000};  // from the first byte of a request
  std::chrono::milliseconds body_timeout{60'000};    // for the whole of it
  std::chrono::milliseconds idle_timeout{75'000};    // between requests
  std::chrono::milliseconds write_timeout{30'000};   // in which nothing of an answer is taken
  std::chrono::milliseconds heartbeat{15'000};       // of streams
  std::chrono::milliseconds drain{10'000};           // what runs get when the server stops

  // Where writes are noted, a line of JSON each; empty: nowhere.
  std::string audit_file{};
  bool log_requests = false;  // all of them, and not only those that failed or took long
};

// kInvalid names the field and the rule. `object` is valid JSON, or absent: the defaults.
Result<ServerOptions> read_server_options(const Json& object);

// kInvalid: a host or an origin that no client would send.
Result<void> check_server_options(const ServerOptions& options);

// Replaces what the environment sets: SKEIN_ADDRESS, SKEIN_PORT, SKEIN_HOSTS and SKEIN_ORIGINS
// (separated by commas), SKEIN_AUDIT_FILE. kInvalid names the variable.
Result<void> take_server_environment(ServerOptions& options);

}  // namespace skein::http
