#include "core/redact.h"

#include <re2/re2.h>

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "core/credentials.h"
#include "core/json.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

bool is_name(std::string_view text) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= 64 && plain(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return plain(c) || c == '_' || c == '-'; });
}

bool is_built_in(std::string_view name) {
  const auto kinds = credential_kinds();
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](const CredentialKind& kind) { return kind.name == name; });
}

bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

struct CompiledRule {
  std::string name;
  std::unique_ptr<re2::RE2> pattern;

  void find(std::string_view text, std::vector<Redaction>& found) const {
    re2::StringPiece parts[2];
    const int groups = std::min(1, pattern->NumberOfCapturingGroups()) + 1;
    const re2::StringPiece whole(text.data(), text.size());
    std::size_t at = 0;
    while (at <= text.size() &&
           pattern->Match(whole, at, text.size(), re2::RE2::UNANCHORED, parts, groups)) {
      const std::size_t matched_end =
          static_cast<std::size_t>(parts[0].data() - text.data()) + parts[0].size();
      const re2::StringPiece& part =
          groups == 2 && parts[1].data() != nullptr ? parts[1] : parts[0];
      std::size_t begin = static_cast<std::size_t>(part.data() - text.data());
      std::size_t end = begin + part.size();
      // An expression may match single bytes.
      while (begin > 0 && is_inside_character(text, begin)) --begin;
      while (is_inside_character(text, end)) ++end;
      if (end > begin) found.push_back({begin, end - begin, name});
      at = std::max(matched_end, at + (parts[0].empty() ? 1 : 0));
      while (is_inside_character(text, at)) ++at;
    }
  }
};

Result<CompiledRule> compile(const RedactionRule& rule) {
  const auto refuse = [&](const std::string& reason) {
    return fail(ErrorCode::kInvalid, "rule " + quote(rule.name) + ": " + reason);
  };
  if (!is_name(rule.name)) return refuse("a name is of a-z, 0-9, _ and -, at most 64 of them");
  if (is_built_in(rule.name)) return refuse("this is the name of a built-in rule");
  if (rule.pattern.empty()) return refuse("has an empty pattern");
  if (rule.pattern.size() > limits::kMaxRedactionPatternBytes) {
    return refuse("its pattern is longer than the limit of " +
                  std::to_string(limits::kMaxRedactionPatternBytes) + " bytes");
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto pattern = std::make_unique<re2::RE2>(rule.pattern, options);
  if (!pattern->ok()) return refuse("the pattern is wrong: " + pattern->error());
  return CompiledRule{rule.name, std::move(pattern)};
}

// Those that are apart from each other.
void drop_overlapping(std::vector<Redaction>& found) {
  std::sort(found.begin(), found.end(), [](const Redaction& a, const Redaction& b) {
    return std::tie(a.begin, b.length, a.rule) < std::tie(b.begin, a.length, b.rule);
  });
  std::size_t end = 0;
  std::erase_if(found, [&](const Redaction& redaction) {
    if (redaction.begin < end) return true;
    end = redaction.begin + redaction.length;
    return false;
  });
}

}  // namespace

struct Redactor::Rules {
  std::unordered_set<std::string> without;
  std::vector<CompiledRule> added;
};

Redactor::Redactor() : rules_(std::make_unique<Rules>()) {}
Redactor::Redactor(std::unique_ptr<Rules> rules) : rules_(std::move(rules)) {}
Redactor::~Redactor() = default;
Redactor::Redactor(Redactor&&) noexcept = default;
Redactor& Redactor::operator=(Redactor&&) noexcept = default;

Result<Redactor> Redactor::create(const std::vector<RedactionRule>& rules,
                                  const std::vector<std::string>& without) {
  if (rules.size() > limits::kMaxRedactionRules) {
    return fail(ErrorCode::kInvalid, "there are more rules than the limit of " +
                                         std::to_string(limits::kMaxRedactionRules));
  }
  auto compiled = std::make_unique<Rules>();
  for (const std::string& name : without) {
    if (!is_built_in(name)) {
      return fail(ErrorCode::kInvalid, "rule " + quote(name) + ": there is no such built-in rule");
    }
    compiled->without.insert(name);
  }
  for (const RedactionRule& rule : rules) {
    SKEIN_ASSIGN(CompiledRule one, compile(rule));
    compiled->added.push_back(std::move(one));
  }
  return Redactor(std::move(compiled));
}

std::vector<Redactor::About> Redactor::rules() const {
  std::vector<About> all;
  for (const CredentialKind& kind : credential_kinds()) {
    if (rules_->without.contains(std::string(kind.name))) continue;
    all.push_back({std::string(kind.name), std::string(kind.what), true});
  }
  for (const CompiledRule& rule : rules_->added) {
    all.push_back({rule.name, rule.pattern->pattern(), false});
  }
  return all;
}

std::vector<Redaction> Redactor::find(std::string_view text) const {
  std::vector<Redaction> found;
  for (const FoundCredential& secret : find_credentials(text)) {
    std::string kind(secret.kind);
    if (rules_->without.contains(kind)) continue;
    found.push_back({secret.begin, secret.length, std::move(kind)});
  }
  if (rules_->added.empty()) return found;
  for (const CompiledRule& rule : rules_->added) rule.find(text, found);
  drop_overlapping(found);
  return found;
}

std::size_t Redactor::redact_text(std::string& text) const {
  const std::vector<Redaction> found = find(text);
  if (found.empty()) return 0;
  std::string out;
  std::size_t copied = 0;
  for (const Redaction& redaction : found) {
    out.append(text, copied, redaction.begin - copied);
    out.append("[redacted:").append(redaction.rule).append("]");
    copied = redaction.begin + redaction.length;
  }
  out.append(text, copied);
  text = std::move(out);
  return found.size();
}

std::size_t Redactor::redact_json(std::string& json) const {
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

std::size_t redact_text(std::string& text) {
  static const Redactor redactor;
  return redactor.redact_text(text);
}

}  // namespace skein
