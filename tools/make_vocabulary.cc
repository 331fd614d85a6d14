// make_vocabulary RANKS OUT: turns the ranks as npm's js-tiktoken has them into the table of
// src/thread/tokens/vocabulary_format.h. Part of the build.
//
// RANKS holds a JSON object whose "bpe_ranks" is lines of "! FIRST TOKEN TOKEN …": tokens in base64
// with the ranks FIRST, FIRST + 1 and so on.
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "thread/tokens/vocabulary_format.h"

namespace skein {
namespace {

[[noreturn]] void refuse(std::string_view why) {
  std::fprintf(stderr, "make_vocabulary: %.*s\n", static_cast<int>(why.size()), why.data());
  std::exit(1);
}

std::string decode_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char digit : text.substr(0, text.find('='))) {
    const std::size_t value = kDigits.find(digit);
    if (value == std::string_view::npos) refuse("a token that is not base64");
    bits = bits << 6 | static_cast<unsigned>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xFF);
    }
  }
  return bytes;
}

// Words between spaces; "\n", as JSON writes a line feed, separates too.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const bool line_feed = text.substr(at, 2) == "\\n";
    if (at < text.size() && text[at] != ' ' && !line_feed) continue;
    if (at > begin) words.push_back(text.substr(begin, at - begin));
    if (line_feed) ++at;
    begin = at + 1;
  }
  return words;
}

std::vector<std::string> read_tokens(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  constexpr std::string_view kBegin = "\"bpe_ranks\":\"";
  const std::size_t begin = text.find(kBegin);
  if (begin == std::string::npos) refuse("no bpe_ranks in the file of ranks");
  const std::size_t end = text.find('"', begin + kBegin.size());
  std::vector<std::string> tokens;
  const auto words =
      words_of(std::string_view(text).substr(begin + kBegin.size(), end - begin - kBegin.size()));
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "!") {
      tokens.push_back(decode_base64(words[i]));
      continue;
    }
    std::size_t first = 0;
    if (++i == words.size()) refuse("a line without its first rank");
    std::from_chars(words[i].data(), words[i].data() + words[i].size(), first);
    if (first != tokens.size()) refuse("ranks are expected to have no gaps");
  }
  return tokens;
}

template <class T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string image_of(const std::vector<std::string>& tokens) {
  constexpr std::uint32_t kSlotBits = 19;
  if (tokens.size() >= kRankMask) refuse("more tokens than ranks have bits");
  VocabularyHeader header{};
  std::memcpy(header.magic, kVocabularyMagic, sizeof header.magic);
  header.tokens = static_cast<std::uint32_t>(tokens.size());
  header.slot_bits = kSlotBits;
  std::vector<std::uint32_t> slots(std::size_t{1} << kSlotBits);
  std::string offsets;
  for (std::uint32_t rank = 0; rank < tokens.size(); ++rank) {
    const std::string& token = tokens[rank];
    put(offsets, header.bytes);
    header.bytes += static_cast<std::uint32_t>(token.size());
    header.longest = std::max(header.longest, static_cast<std::uint32_t>(token.size()));
    const std::uint64_t hash = token_hash(token.data(), token.size());
    std::uint32_t at = slot_index(hash, kSlotBits);
    while (slots[at] != 0) at = (at + 1) % slots.size();
    slots[at] = slot_tag(hash) | (rank + 1);
  }
  put(offsets, header.bytes);
  std::string image;
  put(image, header);
  image += offsets;
  image.append(reinterpret_cast<const char*>(slots.data()), slots.size() * sizeof slots[0]);
  for (const std::string& token : tokens) image += token;
  return image;
}

}  // namespace
}  // namespace skein

int main(int argc, char** argv) {
  if (argc != 3) skein::refuse("usage: make_vocabulary RANKS OUT");
  const std::vector<std::string> tokens = skein::read_tokens(argv[1]);
  if (tokens.size() < 256) skein::refuse("too few tokens");
  std::ofstream out(argv[2], std::ios::binary);
  out << skein::image_of(tokens);
  out.close();
  if (!out) skein::refuse("could not write the table");
  return 0;
}
