// Takes credentials out of text before it is kept.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skein/error.h"

namespace skein {

namespace limits {
inline constexpr std::size_t kMaxRedactionRules = 200;
inline constexpr std::size_t kMaxRedactionPatternBytes = 4096;
}  // namespace limits

// What a user adds: a name, and a regular expression as RE2 has it. Of an expression with groups
// the first is what goes, and what is around it stays.
struct RedactionRule {
  std::string name;  // [a-z0-9][a-z0-9_-]{0,63}
  std::string pattern;
};

// Something that goes, by its place in the text as it was.
struct Redaction {
  std::size_t begin = 0;
  std::size_t length = 0;
  std::string rule;
};

// Replaces what its rules find by "[redacted:<rule>]". The same text always becomes the same, in
// time that grows with its length alone, whatever the text and the rules are; what was UTF-8 stays
// UTF-8. The built-in rules (credentials.h) change nothing when applied again. Thread-safe.
class Redactor {
 public:
  // The built-in rules.
  Redactor();
  // Those but `without`, and `rules`. kInvalid names the rule and what is wrong with it.
  static Result<Redactor> create(const std::vector<RedactionRule>& rules,
                                 const std::vector<std::string>& without);
  ~Redactor();
  Redactor(Redactor&&) noexcept;
  Redactor& operator=(Redactor&&) noexcept;

  struct About {
    std::string name;
    std::string what;  // in words, or the pattern of a rule that was added
    bool built_in = true;
  };
  std::vector<About> rules() const;

  // In order, and apart from each other: of those that overlap the one that begins first.
  std::vector<Redaction> find(std::string_view text) const;

  // Both answer how many there were.
  std::size_t redact_text(std::string& text) const;
  // The same inside every string of a valid JSON text, which stays valid.
  std::size_t redact_json(std::string& json) const;

 private:
  struct Rules;
  explicit Redactor(std::unique_ptr<Rules> rules);
  std::unique_ptr<Rules> rules_;
};

// With the built-in rules.
std::size_t redact_text(std::string& text);

}  // namespace skein
