#include "api/spelled_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/percent.h"
#include "core/try.h"

namespace skein {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::size_t kMostWords = 4096;
constexpr std::size_t kMostComparisons = 1'000'000;
constexpr std::size_t kMostNameBytes = 255;

// What an interpreter adds to the name of a module.
constexpr std::string_view kEndings[] = {".js", ".mjs", ".cjs", ".jsx", ".json", ".node",
                                         ".ts", ".mts", ".cts", ".tsx", ".py",   ".pyc",
                                         ".so", ".rb",  ".pm",  ".lua", ".class"};

bool is_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         byte >= 0x80;
}

std::size_t end_of_word(std::string_view text, std::size_t begin) {
  while (begin < text.size() && is_letter(text[begin])) ++begin;
  return begin;
}

// As a shell leaves it: "./s"".sh" and ./s\.sh are ./s.sh.
std::string without_quotes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "\\\n") {
      ++i;
    } else if (std::string_view("\\'\"`").find(text[i]) == std::string_view::npos) {
      out += text[i];
    }
  }
  return out;
}

tl::unexpected<Error> too_much(std::string_view what, std::size_t limit) {
  return fail(ErrorCode::kInvalid,
              fmt::format("has more than {} {} in its programs, arguments and variables, so that "
                          "the files in them cannot be checked; put long text into a file and name "
                          "the file",
                          limit, what));
}

}  // namespace

Result<void> SpelledNames::read(std::string text) {
  if (text.size() > kMostBytes) return too_much("bytes", kMostBytes);
  text_ = text;
  for (const std::string& other : {without_quotes(text), percent_decoded(text)}) {
    if (other != text) text_.append(1, '\0').append(other);
  }
  SKEIN_TRY(add_words());
  for (std::size_t at = text_.find('.'); at != std::string::npos && !has_dot_;
       at = text_.find('.', at + 1)) {
    has_dot_ = is_dot(at);
  }
  for (const char* word : {"PWD", "OLDPWD", "pwd", "cwd", "getcwd"}) {
    has_dot_ = has_dot_ || words_.contains(word);
  }
  has_dot_ = has_dot_ || has_empty_path_entry();
  return {};
}

Result<void> SpelledNames::add_words() {
  for (std::size_t begin = 0; begin < text_.size();) {
    const std::size_t end = end_of_word(text_, begin);
    if (end == begin) {
      ++begin;
      continue;
    }
    words_[std::string_view(text_).substr(begin, end - begin)].push_back(begin);
    if (is_option(begin)) add_option_letters(begin, end);
    if (words_.size() > kMostWords) return too_much("different words", kMostWords);
    begin = end;
  }
  return {};
}

// The letters after "-" are options, and the last ones may be a value: "-sfMakefile". Those after
// a backslash or "%" may be an escape.
bool SpelledNames::is_option(std::size_t word) const {
  if (word == 0) return false;
  const char before = text_[word - 1];
  if (before == '\\' || before == '%') return true;
  return before == '-' && (word == 1 || (text_[word - 2] != '-' && !is_letter(text_[word - 2])));
}

void SpelledNames::add_option_letters(std::size_t begin, std::size_t end) {
  const std::size_t first = end - std::min(end - begin - 1, kMostNameBytes);
  for (std::size_t at = first; at < end; ++at) {
    words_[std::string_view(text_).substr(at, end - at)].push_back(at);
  }
}

// "x.git" is no name of ".git"; "-f.git" may be one.
bool SpelledNames::continues_a_word(std::size_t at) const {
  std::size_t word = at;
  while (word > 0 && is_letter(text_[word - 1])) --word;
  return word < at && !is_option(word);
}

// The dot itself has a separator in front of it, and it or a second dot has one behind it.
bool SpelledNames::is_dot(std::size_t at) const {
  if (continues_a_word(at)) return false;
  if (at > 0 && text_[at - 1] == '.') return false;
  std::size_t end = at + 1;
  if (end < text_.size() && text_[end] == '.') ++end;
  while (end < text_.size() && text_[end] == '/') ++end;
  return end == text_.size() || (!is_letter(text_[end]) && text_[end] != '.');
}

// "PATH=:/bin" searches the working folder.
bool SpelledNames::has_empty_path_entry() const {
  constexpr std::string_view kPath = "PATH=";
  for (std::size_t at = text_.find(kPath); at != std::string::npos;
       at = text_.find(kPath, at + 1)) {
    const std::size_t begin = at + kPath.size();
    const std::size_t end = text_.find_first_of(std::string_view(" \t\r\n\"'`;&|\0", 11), begin);
    const std::string entries = ":" + text_.substr(begin, end - begin) + ":";
    if (entries.find("::") != std::string::npos) return true;
  }
  return false;
}

// Whether the path goes on after one of its names.
bool SpelledNames::goes_on(std::size_t end) const {
  const std::size_t next = text_.find_first_not_of('/', end);
  if (next == end || next == std::string::npos) return false;
  if (text_[next] != '.') return is_letter(text_[next]);
  return next + 1 < text_.size() && is_letter(text_[next + 1]);
}

Result<Spelled> SpelledNames::find_exactly(std::string_view name) {
  std::size_t begin = 0;
  while (begin < name.size() && !is_letter(name[begin])) ++begin;
  if (begin == name.size()) return Spelled::kAtEnd;  // "+" has no word to find it by, and is rare
  const auto found = words_.find(name.substr(begin, end_of_word(name, begin) - begin));
  Spelled spelled = Spelled::kNowhere;
  if (found == words_.end()) return spelled;
  // "s.sh" is no part of other words, and "s" is.
  const bool ends_word = is_letter(name.back()) && name.find('.', begin) == std::string_view::npos;
  for (const std::size_t place : found->second) {
    if (++comparisons_ > kMostComparisons) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("spells names of the workspace's files so often that they cannot be "
                              "checked (limit: {} comparisons)",
                              kMostComparisons));
    }
    if (place < begin || text_.compare(place - begin, name.size(), name) != 0) continue;
    if (begin > 0 && continues_a_word(place - begin)) continue;
    const std::size_t end = place - begin + name.size();
    if (ends_word && end < text_.size() && is_letter(text_[end])) continue;
    if (!goes_on(end)) return Spelled::kAtEnd;
    spelled = Spelled::kAboveOthers;
  }
  return spelled;
}

Result<Spelled> SpelledNames::find(std::string_view file_name) {
  SKEIN_ASSIGN(const Spelled whole, find_exactly(file_name));
  if (whole != Spelled::kNowhere) return whole;
  for (const std::string_view ending : kEndings) {
    if (!file_name.ends_with(ending)) continue;
    // "x.cpython-313-x86_64-linux-gnu.so" is the module "x".
    const std::size_t end =
        ending == ".so" ? file_name.find('.') : file_name.size() - ending.size();
    return end > 0 ? find_exactly(file_name.substr(0, end)) : Spelled::kNowhere;
  }
  return Spelled::kNowhere;
}

}  // namespace skein
