#include "engine/api_options.h"

#include <algorithm>
#include <cstdlib>

#include "core/secret_names.h"
#include "core/url_host.h"

namespace skein {
namespace {

using Milliseconds = std::chrono::milliseconds;

void take_request_fields(CheckedFields& fields, const ApiDefaults& defaults, ApiOptions& options) {
  const auto request = fields.object("request");
  if (!request) return;
  const JsonFields body(*request);
  for (const JsonFields::Field& field : body.others()) {
    if (std::find(defaults.reserved.begin(), defaults.reserved.end(), field.name) !=
        defaults.reserved.end()) {
      fields.wrong("request." + field.name, "is filled in by the engine");
    }
  }
  options.request = Json::trusted(std::string(*request));
}

void take_prices(CheckedFields& fields, ApiOptions& options) {
  const auto prices = fields.object("prices");
  if (!prices) return;
  CheckedFields inner(*prices, fields.path_of("prices"), fields.problems());
  constexpr double kMaxPrice = 1e6;
  options.input_price = inner.number("input", 0, kMaxPrice);
  options.output_price = inner.number("output", 0, kMaxPrice);
  options.cache_read_price = inner.number("cacheRead", 0, kMaxPrice);
}

}  // namespace

std::optional<double> ApiOptions::cost_of(const EngineUsage& usage) const {
  if (!input_price && !output_price && !cache_read_price) return std::nullopt;
  const auto part = [](std::optional<std::int64_t> tokens, std::optional<double> price) {
    return static_cast<double>(tokens.value_or(0)) * price.value_or(0) / 1e6;
  };
  return part(usage.input_tokens, input_price) + part(usage.output_tokens, output_price) +
         part(usage.cache_read_tokens, cache_read_price);
}

void check_base_url(CheckedFields& fields, std::string& url) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    fields.wrong("baseUrl", "must begin with http:// or https://");
  } else if (url.find_first_of("?#@ ") != std::string::npos) {
    fields.wrong("baseUrl", "must not have a user, a password or a query in it");
  } else if (std::any_of(url.begin(), url.end(), is_control)) {
    fields.wrong("baseUrl", "must not have a control character in it");
  } else if (!has_plain_host(url)) {
    fields.wrong("baseUrl", std::string(kPlainHostRule));
  }
  while (url.ends_with('/')) url.pop_back();
}

ApiOptions take_api_options(CheckedFields& fields, const ApiDefaults& defaults) {
  ApiOptions options;
  const auto url = fields.text("baseUrl");
  const auto variable = fields.text("keyVariable", {.max_bytes = 128});
  options.base_url = url ? *url : std::string(defaults.base_url);
  check_base_url(fields, options.base_url);
  if (variable && !is_variable_name(*variable)) {
    fields.wrong("keyVariable", "must be the name of an environment variable, and not the key");
  }
  options.key_variable = variable ? *variable : url ? "" : std::string(defaults.key_variable);
  for (auto& [name, value] : fields.pairs("headers")) {
    if (names_secret(name)) {
      fields.wrong("headers." + name, "would hold a key; \"keyVariable\" names where that is");
    }
    options.headers.push_back({std::move(name), std::move(value)});
  }
  const auto milliseconds = [&](std::string_view name, Milliseconds usual) {
    return Milliseconds(fields.whole(name, 1, 3'600'000).value_or(usual.count()));
  };
  options.connect_timeout = milliseconds("connectTimeoutMs", options.connect_timeout);
  options.idle_timeout = milliseconds("idleTimeoutMs", options.idle_timeout);
  options.retry_delay = milliseconds("retryDelayMs", options.retry_delay);
  options.retries = fields.whole("retries", 0, 20).value_or(options.retries);
  take_request_fields(fields, defaults, options);
  take_prices(fields, options);
  return options;
}

Result<std::string> key_from(const std::string& variable, std::string_view whose) {
  if (variable.empty()) return std::string();
  const char* value = std::getenv(variable.c_str());
  if (value == nullptr || *value == '\0') {
    return fail(ErrorCode::kInvalid, "the environment variable " + variable +
                                         " is not set; it must hold the key for " +
                                         std::string(whose));
  }
  const std::string key = value;
  if (std::any_of(key.begin(), key.end(), [](unsigned char c) { return c <= 0x20 || c >= 0x7F; })) {
    return fail(ErrorCode::kInvalid, "the environment variable " + variable +
                                         " holds a space or control character, which no key has");
  }
  return key;
}

}  // namespace skein
