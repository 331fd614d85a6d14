#include "thread/tokens/vocabulary.h"

#include <cassert>

// The file that tools/make_vocabulary.cc wrote, as it is: compilers take minutes over arrays of its
// size.
asm(R"(
.pushsection .rodata
.balign 64
.globl skein_o200k_base
.hidden skein_o200k_base
skein_o200k_base:
.incbin ")" SKEIN_VOCABULARY R"("
.popsection
)");
extern "C" const unsigned char skein_o200k_base[];

namespace skein {

Vocabulary::Vocabulary(const unsigned char* image) {
  VocabularyHeader header;
  std::memcpy(&header, image, sizeof header);
  assert(std::memcmp(header.magic, kVocabularyMagic, sizeof header.magic) == 0);
  longest_ = header.longest;
  slot_bits_ = header.slot_bits;
  offsets_ = reinterpret_cast<const std::uint32_t*>(image + sizeof header);
  slots_ = offsets_ + header.tokens + 1;
  bytes_ = reinterpret_cast<const char*>(slots_ + (std::size_t{1} << slot_bits_));
}

const Vocabulary& Vocabulary::o200k_base() {
  static const Vocabulary vocabulary(skein_o200k_base);
  return vocabulary;
}

}  // namespace skein
