#include "core/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

#include "core/json.h"

namespace skein {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_alnum(char c) { return is_digit(c) || is_upper(c) || is_lower(c); }
bool is_key_char(char c) { return is_alnum(c) || c == '_' || c == '-'; }
bool is_word_char(char c) { return is_alnum(c) || c == '_'; }
bool is_upper_alnum(char c) { return is_digit(c) || is_upper(c); }
bool is_slack_char(char c) { return is_alnum(c) || c == '-'; }
bool is_token_char(char c) {
  return is_key_char(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '=';
}
// Between the two marks of a PEM block: base64, its headers, and line ends, escaped or not.
bool is_pem_char(char c) {
  return is_alnum(c) || std::string_view("+/=:,.-\\ \t\r\n").find(c) != std::string_view::npos;
}

template <class Predicate>
std::size_t run_length(std::string_view text, Predicate predicate) {
  const auto end = std::find_if_not(text.begin(), text.end(), predicate);
  return static_cast<std::size_t>(end - text.begin());
}

bool has_digit_and_letter(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_digit) &&
         std::any_of(text.begin(), text.end(), [](char c) { return is_upper(c) || is_lower(c); });
}

// Random text has long runs without punctuation; hyphenated words do not.
bool has_random_run(std::string_view text) {
  constexpr std::size_t kLongerThanWords = 16;
  while (!text.empty()) {
    const std::size_t length = run_length(text, is_alnum);
    if (length >= kLongerThanWords && has_digit_and_letter(text.substr(0, length))) return true;
    text.remove_prefix(std::min(text.size(), length + 1));
  }
  return false;
}

struct Secret {
  std::size_t keep = 0;    // bytes before it that stay, such as "Bearer "
  std::size_t length = 0;  // bytes that go
  std::string_view kind;
};

std::optional<Secret> find_sk_key(std::string_view text) {
  if (!text.starts_with("sk-")) return std::nullopt;
  const std::size_t length = run_length(text, is_key_char);
  if (length < 20 || !has_random_run(text.substr(3, length - 3))) return std::nullopt;
  return Secret{0, length, text.starts_with("sk-ant-") ? "anthropic-key" : "api-key"};
}

std::optional<Secret> find_github_token(std::string_view text) {
  constexpr std::string_view kFineGrained = "github_pat_";
  if (text.starts_with(kFineGrained)) {
    const std::size_t body = run_length(text.substr(kFineGrained.size()), is_word_char);
    if (body >= 36) return Secret{0, kFineGrained.size() + body, "github-token"};
    return std::nullopt;
  }
  constexpr std::string_view kClassicKinds = "pousr";
  if (text.size() < 4 || !text.starts_with("gh") || text[3] != '_' ||
      kClassicKinds.find(text[2]) == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t body = run_length(text.substr(4), is_alnum);
  if (body < 36) return std::nullopt;
  return Secret{0, 4 + body, "github-token"};
}

std::optional<Secret> find_slack_token(std::string_view text) {
  constexpr std::string_view kKinds = "abeprs";
  if (text.size() < 5 || !text.starts_with("xox") || text[4] != '-' ||
      kKinds.find(text[3]) == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view body = text.substr(5, run_length(text.substr(5), is_slack_char));
  if (body.size() < 10 || !has_digit_and_letter(body)) return std::nullopt;
  return Secret{0, 5 + body.size(), "slack-token"};
}

std::optional<Secret> find_aws_key(std::string_view text) {
  constexpr std::size_t kLength = 20;
  if (!text.starts_with("AKIA") && !text.starts_with("ASIA")) return std::nullopt;
  if (run_length(text, is_upper_alnum) != kLength) return std::nullopt;
  if (text.size() > kLength && is_key_char(text[kLength])) return std::nullopt;
  if (!has_digit_and_letter(text.substr(0, kLength))) return std::nullopt;
  return Secret{0, kLength, "aws-key"};
}

std::optional<Secret> find_google_key(std::string_view text) {
  constexpr std::size_t kLength = 39;
  if (!text.starts_with("AIza") || run_length(text, is_key_char) != kLength) return std::nullopt;
  if (!has_digit_and_letter(text.substr(0, kLength))) return std::nullopt;
  return Secret{0, kLength, "google-key"};
}

std::optional<Secret> find_jwt(std::string_view text) {
  constexpr std::size_t kShortestPart = 10;
  std::size_t at = 0;
  for (int part = 0; part < 3; ++part) {
    const std::string_view rest = text.substr(at);
    // Header and claims are JSON objects: in base64 they begin with eyJ.
    if (part < 2 && !rest.starts_with("eyJ")) return std::nullopt;
    const std::size_t length = run_length(rest, is_key_char);
    if (length < kShortestPart) return std::nullopt;
    at += length;
    if (part == 2) break;
    if (at >= text.size() || text[at] != '.') return std::nullopt;
    ++at;
  }
  return Secret{0, at, "jwt"};
}

std::optional<Secret> find_private_key(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kLabelEnd = "PRIVATE KEY-----";
  if (!text.starts_with(kBegin)) return std::nullopt;
  const std::string_view label = text.substr(kBegin.size());
  const std::size_t label_length =
      run_length(label, [](char c) { return is_upper_alnum(c) || c == ' '; });
  const std::size_t mark_end = label_length + 5;  // the dashes
  if (label.size() < mark_end || !label.substr(0, mark_end).ends_with(kLabelEnd)) {
    return std::nullopt;
  }
  const std::size_t head = kBegin.size() + mark_end;
  std::string_view body = text.substr(head, run_length(text.substr(head), is_pem_char));
  if (const std::size_t end = body.find("-----END "); end != std::string_view::npos) {
    const std::size_t close = body.find("-----", end + 9);
    if (close != std::string_view::npos) {
      return Secret{0, head + close + 5, "private-key"};
    }
  }
  // Cut off before its end. The mark alone is no secret: people write about it.
  if (!has_random_run(body)) return std::nullopt;
  return Secret{0, head + body.size(), "private-key"};
}

std::optional<Secret> find_bearer_token(std::string_view text) {
  constexpr std::string_view kWord = "bearer ";
  if (text.size() <= kWord.size() ||
      !std::equal(kWord.begin(), kWord.end(), text.begin(), [](char expected, char found) {
        return expected == std::tolower(static_cast<unsigned char>(found));
      })) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(kWord.size());
  const std::string_view token = rest.substr(0, run_length(rest, is_token_char));
  if (token.size() < 20 || !has_random_run(token)) return std::nullopt;
  return Secret{kWord.size(), token.size(), "bearer-token"};
}

std::optional<Secret> secret_at(std::string_view text) {
  switch (text.front()) {
    case 's':
      return find_sk_key(text);
    case 'g':
      return find_github_token(text);
    case 'x':
      return find_slack_token(text);
    case 'A': {
      auto found = find_aws_key(text);
      return found ? found : find_google_key(text);
    }
    case 'e':
      return find_jwt(text);
    case '-':
      return find_private_key(text);
    case 'b':
    case 'B':
      return find_bearer_token(text);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::size_t redact_text(std::string& text) {
  std::size_t count = 0;
  std::string out;
  std::size_t copied = 0;
  const std::string_view view = text;
  for (std::size_t at = 0; at < view.size(); ++at) {
    const bool begins_word = at == 0 || !is_key_char(view[at - 1]) || view[at] == '-';
    if (!begins_word) continue;
    auto secret = secret_at(view.substr(at));
    if (!secret) continue;
    // A bearer token may be of a kind that says more.
    if (secret->keep > 0) {
      if (auto inner = secret_at(view.substr(at + secret->keep))) {
        secret = Secret{secret->keep + inner->keep, inner->length, inner->kind};
      }
    }
    out.append(view.substr(copied, at + secret->keep - copied));
    out.append("[redacted:").append(secret->kind).append("]");
    copied = at + secret->keep + secret->length;
    at = copied - 1;
    ++count;
  }
  if (count == 0) return 0;
  out.append(view.substr(copied));
  text = std::move(out);
  return count;
}

std::size_t redact_json(std::string& json) {
  std::size_t count = 0;
  std::string out;
  std::size_t copied = 0;
  std::string content;
  for (std::size_t open = json.find('"'); open != std::string::npos;) {
    std::size_t close = open + 1;
    while (close < json.size() && json[close] != '"') close += json[close] == '\\' ? 2 : 1;
    if (close >= json.size()) break;
    unescape_json_string(std::string_view(json).substr(open, close + 1 - open), content);
    if (const std::size_t found = redact_text(content); found > 0) {
      count += found;
      out.append(json, copied, open - copied);
      append_json_string(out, content);
      copied = close + 1;
    }
    open = json.find('"', close + 1);
  }
  if (count == 0) return 0;
  out.append(json, copied);
  json = std::move(out);
  return count;
}

}  // namespace skein
