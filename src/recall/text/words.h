// Text cut into the words that it is found by, in any script, code included.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skein {

enum class WordKind : std::uint8_t {
  kWord,      // stemmed
  kCompound,  // an identifier, a version, a file name as a whole, besides its parts
  kGram,      // a pair of characters of a script without spaces, or of Hangul
  kSingle,    // one such character, besides its pairs
};

struct Word {
  std::string_view text;  // case folded, compatibility forms resolved; at most kMaxWordBytes
  WordKind kind = WordKind::kWord;
  std::uint32_t offset = 0;  // where it stands in the text that was split
  std::uint32_t bytes = 0;   // how long it is there
};

inline constexpr std::size_t kMaxWordBytes = 64;

// "getUserById" and "get_user_by_id" give "get", "user", "by", "id" and themselves; "src/a_b.cc"
// gives "src", "a", "b", "cc" and "a_b.cc". What follows an apostrophe in English ('s, 't, 'll …)
// is dropped. Bytes that are not UTF-8 separate words. Not thread-safe; reuse one for speed.
class WordSplitter {
 public:
  // What it answers lives until the next call.
  std::span<const Word> split(std::string_view text);

 private:
  struct Piece {
    std::size_t begin, end;
  };

  void split_chunk(std::size_t begin, std::size_t end);
  void cut_parts(std::string_view chunk, std::size_t begin);
  void add_grams(std::size_t begin, std::size_t end);
  void add(std::size_t begin, std::size_t end, WordKind kind);
  void fold_into_arena(std::string_view raw);

  std::string_view text_;
  std::string arena_;
  std::vector<Piece> in_arena_;
  std::vector<Piece> parts_;
  std::vector<Word> words_;
};

}  // namespace skein
