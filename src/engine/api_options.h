// How a provider is reached: what the options of an engine over HTTP have in common.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/checked_fields.h"
#include "core/http_client.h"
#include "skein/engine.h"

namespace skein {

struct ApiOptions {
  std::string base_url;
  std::string key_variable;  // empty: no key is sent
  std::vector<HttpHeader> headers;
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds idle_timeout{300'000};  // without a byte of the response
  std::int64_t retries = 4;
  std::chrono::milliseconds retry_delay{500};  // before the first one; each next waits twice that
  Json request;                                // fields for the body, an object, or absent

  // In dollars for a million tokens; absent: not known.
  std::optional<double> input_price;
  std::optional<double> output_price;
  std::optional<double> cache_read_price;

  // What the turn cost, where the prices are known.
  std::optional<double> cost_of(const EngineUsage& usage) const;
};

struct ApiDefaults {
  std::string_view base_url;
  std::string_view key_variable;
  // Fields of the body that are the engine's own.
  std::vector<std::string_view> reserved;
};

// Tells what is wrong with the URL of a provider, and takes the slashes at its end away.
void check_base_url(CheckedFields& fields, std::string& url);

// Takes the common fields. The provider's own key is for the provider only: with another base URL,
// a key is sent when its variable is named.
ApiOptions take_api_options(CheckedFields& fields, const ApiDefaults& defaults);

// The key that the environment variable holds; empty if none is named. kInvalid: it is not set, or
// what it holds is no key. `whose` says in the message what the key is for.
Result<std::string> key_from(const std::string& variable, std::string_view whose);

}  // namespace skein
