#include "core/credentials.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

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

// `word` is in lower case.
bool starts_with_word(std::string_view text, std::string_view word) {
  return text.size() > word.size() &&
         std::equal(word.begin(), word.end(), text.begin(), [](char expected, char found) {
           return expected == std::tolower(static_cast<unsigned char>(found));
         });
}

// Tokens that say by their first letters whose they are.
struct PrefixedToken {
  std::string_view prefix;
  bool (*is_body)(char);
  std::size_t shortest_body;
  std::string_view kind;
};

constexpr std::array<PrefixedToken, 22> kPrefixedTokens = {{
    {"AGE-SECRET-KEY-1", is_upper_alnum, 58, "age-key"},
    {"SG.", is_token_char, 60, "sendgrid-key"},
    {"dop_v1_", is_alnum, 64, "digitalocean-token"},
    {"glpat-", is_key_char, 20, "gitlab-token"},
    {"gsk_", is_alnum, 40, "api-key"},
    {"hf_", is_alnum, 34, "huggingface-token"},
    {"hvs.", is_key_char, 24, "vault-token"},
    {"lin_api_", is_alnum, 40, "linear-key"},
    {"npm_", is_alnum, 36, "npm-token"},
    {"ntn_", is_alnum, 40, "notion-token"},
    {"pplx-", is_alnum, 40, "api-key"},
    {"pypi-AgEI", is_key_char, 50, "pypi-token"},
    {"r8_", is_alnum, 37, "api-key"},
    {"rk_live_", is_alnum, 24, "stripe-key"},
    {"shpat_", is_alnum, 32, "shopify-token"},
    {"sk_live_", is_alnum, 24, "stripe-key"},
    {"sk_test_", is_alnum, 24, "stripe-key"},
    {"tskey-", is_key_char, 24, "tailscale-key"},
    {"whsec_", is_token_char, 32, "stripe-key"},
    {"xai-", is_alnum, 60, "api-key"},
    {"xapp-", is_slack_char, 30, "slack-token"},
    {"ya29.", is_key_char, 40, "google-oauth-token"},
}};

std::optional<Secret> find_prefixed_token(std::string_view text) {
  for (const PrefixedToken& token : kPrefixedTokens) {
    if (!text.starts_with(token.prefix)) continue;
    const std::string_view rest = text.substr(token.prefix.size());
    const std::string_view body = rest.substr(0, run_length(rest, token.is_body));
    if (body.size() < token.shortest_body || !has_digit_and_letter(body)) return std::nullopt;
    return Secret{0, token.prefix.size() + body.size(), token.kind};
  }
  return std::nullopt;
}

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
  // No further than the next one: many beginnings in a row are looked at once each.
  std::string_view body = text.substr(head);
  body = body.substr(0, body.find(kBegin));
  body = body.substr(0, run_length(body, is_pem_char));
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
  if (!starts_with_word(text, kWord)) return std::nullopt;
  const std::string_view rest = text.substr(kWord.size());
  const std::string_view token = rest.substr(0, run_length(rest, is_token_char));
  if (token.size() < 20 || !has_random_run(token)) return std::nullopt;
  return Secret{kWord.size(), token.size(), "bearer-token"};
}

std::optional<Secret> find_basic_credentials(std::string_view text) {
  constexpr std::string_view kWord = "basic ";
  if (!starts_with_word(text, kWord)) return std::nullopt;
  const std::string_view rest = text.substr(kWord.size());
  const std::string_view token = rest.substr(0, run_length(rest, is_token_char));
  // Base64 is of whole groups of four.
  if (token.size() < 16 || token.size() % 4 != 0 || !has_random_run(token)) {
    return std::nullopt;
  }
  return Secret{kWord.size(), token.size(), "basic-credentials"};
}

// The password in scheme://user:password@host; `text` begins at the colon of the scheme.
std::optional<Secret> find_url_password(std::string_view text) {
  constexpr std::string_view kMark = "://";
  constexpr std::size_t kLongest = 512;
  if (!text.starts_with(kMark)) return std::nullopt;
  const auto is_part = [](char c) {
    return static_cast<unsigned char>(c) > ' ' &&
           std::string_view("/@:\"'<>\\`").find(c) == std::string_view::npos;
  };
  const std::string_view user_on = text.substr(kMark.size(), kLongest);
  const std::size_t user = run_length(user_on, is_part);
  if (user == user_on.size() || user_on[user] != ':') return std::nullopt;
  const std::size_t keep = kMark.size() + user + 1;
  const std::string_view password_on = text.substr(keep, kLongest);
  const std::size_t length =
      run_length(password_on, [&](char c) { return is_part(c) || c == ':'; });
  if (length < 3 || length == password_on.size() || password_on[length] != '@') {
    return std::nullopt;
  }
  // What a person or a template writes for a password that is elsewhere.
  if (std::string_view("$<{[*(").find(password_on.front()) != std::string_view::npos) {
    return std::nullopt;
  }
  return Secret{keep, length, "url-password"};
}

// aws_secret_access_key = "…", in any of the ways that people write it.
std::optional<Secret> find_aws_secret(std::string_view text) {
  constexpr std::size_t kLength = 40;
  constexpr std::array<std::string_view, 2> kNames = {"aws_secret_access_key", "secretaccesskey"};
  for (const std::string_view name : kNames) {
    if (!starts_with_word(text, name)) continue;
    const std::string_view rest = text.substr(name.size());
    const std::size_t between = run_length(rest.substr(0, 8), [](char c) {
      return std::string_view(" \t=:\"'\\").find(c) != std::string_view::npos;
    });
    const std::string_view value = rest.substr(between);
    const std::size_t length =
        run_length(value, [](char c) { return is_alnum(c) || c == '/' || c == '+' || c == '='; });
    if (between == 0 || length != kLength || !has_digit_and_letter(value.substr(0, kLength))) {
      return std::nullopt;
    }
    return Secret{name.size() + between, kLength, "aws-secret"};
  }
  return std::nullopt;
}

std::optional<Secret> find_slack_webhook(std::string_view text) {
  constexpr std::string_view kPlace = "hooks.slack.com/services/";
  if (!text.starts_with(kPlace)) return std::nullopt;
  const std::size_t length =
      run_length(text.substr(kPlace.size()), [](char c) { return is_alnum(c) || c == '/'; });
  if (length < 30) return std::nullopt;
  return Secret{kPlace.size(), length, "slack-webhook"};
}

using Finder = std::optional<Secret> (*)(std::string_view text);

constexpr std::array<Finder, 13> kFinders = {find_sk_key,        find_github_token,
                                             find_slack_token,   find_aws_key,
                                             find_google_key,    find_jwt,
                                             find_private_key,   find_bearer_token,
                                             find_aws_secret,    find_basic_credentials,
                                             find_url_password,  find_slack_webhook,
                                             find_prefixed_token};

// The characters that any of them begins with.
bool may_begin(char c) {
  return std::string_view("sgxAeb-BnlhdprtwyS:a").find(c) != std::string_view::npos;
}

std::optional<Secret> secret_at(std::string_view text) {
  for (const Finder find : kFinders) {
    if (auto secret = find(text)) return secret;
  }
  return std::nullopt;
}

constexpr std::array<CredentialKind, 27> kKinds = {{
    {"age-key", "secret keys of age"},
    {"anthropic-key", "keys of Anthropic, sk-ant-…"},
    {"api-key", "keys sk-… of OpenAI and its imitators; Groq, Perplexity, Replicate, xAI"},
    {"aws-key", "access keys of AWS, AKIA… and ASIA…"},
    {"aws-secret", "what aws_secret_access_key is set to"},
    {"basic-credentials", "what follows Basic in HTTP headers"},
    {"bearer-token", "what follows Bearer in HTTP headers"},
    {"digitalocean-token", "tokens of DigitalOcean, dop_v1_…"},
    {"github-token", "tokens of GitHub, ghp_… and its kin, github_pat_…"},
    {"gitlab-token", "tokens of GitLab, glpat-…"},
    {"google-key", "keys of Google, AIza…"},
    {"google-oauth-token", "tokens of Google, ya29.…"},
    {"huggingface-token", "tokens of Hugging Face, hf_…"},
    {"jwt", "JSON web tokens"},
    {"linear-key", "keys of Linear, lin_api_…"},
    {"notion-token", "tokens of Notion, ntn_…"},
    {"npm-token", "tokens of npm, npm_…"},
    {"private-key", "private keys in PEM, whole or cut off"},
    {"pypi-token", "tokens of PyPI, pypi-…"},
    {"sendgrid-key", "keys of SendGrid, SG.…"},
    {"shopify-token", "tokens of Shopify, shpat_…"},
    {"slack-token", "tokens of Slack, xoxb-… and its kin, xapp-…"},
    {"slack-webhook", "addresses that post to Slack"},
    {"stripe-key", "keys of Stripe, sk_live_… and its kin"},
    {"tailscale-key", "keys of Tailscale, tskey-…"},
    {"url-password", "the password in scheme://user:password@host"},
    {"vault-token", "tokens of Vault, hvs.…"},
}};

}  // namespace

std::span<const CredentialKind> credential_kinds() { return kKinds; }

std::vector<FoundCredential> find_credentials(std::string_view text) {
  std::vector<FoundCredential> found;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!may_begin(text[at])) continue;
    const bool begins_word =
        at == 0 || !is_key_char(text[at - 1]) || text[at] == '-' || text[at] == ':';
    if (!begins_word) continue;
    auto secret = secret_at(text.substr(at));
    if (!secret) continue;
    // A bearer token may be of a kind that says more.
    if (secret->keep > 0) {
      if (auto inner = secret_at(text.substr(at + secret->keep))) {
        secret = Secret{secret->keep + inner->keep, inner->length, inner->kind};
      }
    }
    found.push_back({at + secret->keep, secret->length, secret->kind});
    at += secret->keep + secret->length - 1;
  }
  return found;
}

}  // namespace skein
