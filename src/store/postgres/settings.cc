#include "store/postgres/settings.h"

#include <libpq-fe.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "core/quote.h"
#include "core/try.h"

namespace skein::postgres {
namespace {

constexpr std::size_t kMaxSchemaBytes = 63;
constexpr long long kShortestMs = 100;
constexpr long long kLongestMs = 600'000;

// What connections get unless the URL says otherwise: a server that is gone is noticed in seconds,
// and of several the one that takes writes is used.
constexpr std::pair<const char*, const char*> kDefaults[] = {
    {"application_name", "skein"}, {"connect_timeout", "3"},
    {"keepalives_idle", "5"},      {"keepalives_interval", "2"},
    {"keepalives_count", "3"},     {"tcp_user_timeout", "10000"},
    {"client_encoding", "UTF8"},   {"target_session_attrs", "read-write"},
};

tl::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::kInvalid, std::move(message));
}

Result<void> take_own(Settings& settings, std::string_view name, std::string_view value) {
  if (name == "skein_schema") {
    const auto plain = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    const bool valid = !value.empty() && value.size() <= kMaxSchemaBytes && value[0] >= 'a' &&
                       value[0] <= 'z' && std::all_of(value.begin(), value.end(), plain);
    if (!valid) return invalid("skein_schema must match [a-z][a-z0-9_]{0,62}, got " + quote(value));
    settings.schema = value;
    return {};
  }
  if (name == "skein_timeout_ms") {
    long long ms = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ms);
    if (error != std::errc() || end != value.data() + value.size() || ms < kShortestMs ||
        ms > kLongestMs)
      return invalid("skein_timeout_ms must be between " + std::to_string(kShortestMs) + " and " +
                     std::to_string(kLongestMs) + ", got " + quote(value));
    settings.timeout = std::chrono::milliseconds(ms);
    return {};
  }
  if (name == "skein_prepare") {
    if (value != "on" && value != "off")
      return invalid("skein_prepare must be on or off, got " + quote(value));
    settings.prepare = value == "on";
    return {};
  }
  return invalid("a store's URL may have skein_schema, skein_timeout_ms and skein_prepare, got " +
                 quote(name));
}

// Takes our parameters out of the URL.
Result<std::string> take_own_parameters(std::string_view url, Settings& settings) {
  const std::size_t question = url.find('?');
  if (question == std::string_view::npos) return std::string(url);
  std::string rest(url.substr(0, question));
  char separator = '?';
  std::string_view query = url.substr(question + 1);
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view one = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = std::min(one.find('='), one.size());
    if (one.starts_with("skein_")) {
      SKEIN_TRY(
          take_own(settings, one.substr(0, equals), one.substr(std::min(equals + 1, one.size()))));
    } else if (!one.empty()) {
      rest += separator;
      rest += one;
      separator = '&';
    }
  }
  return rest;
}

}  // namespace

Result<Settings> parse_settings(std::string_view url) {
  if (url.find('\0') != std::string_view::npos)
    return invalid("a store's URL must not contain NUL");
  Settings settings;
  SKEIN_ASSIGN(const std::string rest, take_own_parameters(url, settings));
  char* why = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> parsed(
      PQconninfoParse(rest.c_str(), &why), PQconninfoFree);
  const std::unique_ptr<char, decltype(&PQfreemem)> message(why, PQfreemem);
  if (!parsed) {
    // libpq's message may repeat parts of the URL, and so its password.
    const bool secret =
        rest.find('@') != std::string::npos || rest.find("password") != std::string::npos;
    return invalid("the store's URL is not one that PostgreSQL's library understands" +
                   (secret || why == nullptr ? std::string() : ": " + std::string(why)));
  }
  for (const PQconninfoOption* option = parsed.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) settings.connection.push_back({option->keyword, option->val});
  }
  for (const auto& [name, value] : kDefaults) {
    const auto same = [default_name = name](const Settings::Parameter& given) {
      return given.name == default_name;
    };
    if (std::none_of(settings.connection.begin(), settings.connection.end(), same))
      settings.connection.push_back({name, value});
  }
  return settings;
}

}  // namespace skein::postgres
