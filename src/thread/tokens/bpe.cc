#include "thread/tokens/bpe.h"

#include <algorithm>
#include <functional>

namespace skein {
namespace {

constexpr std::uint32_t kNone = Vocabulary::kNone;
constexpr std::size_t kShort = 128;  // up to here looking at all pairs beats keeping a queue

}  // namespace

std::size_t PieceEncoder::encode(const char* piece, std::size_t size,
                                 std::vector<std::uint32_t>* out) {
  const std::uint32_t whole = vocabulary_.rank(piece, size);
  if (whole != kNone) {
    if (out != nullptr) out->push_back(whole);
    return 1;
  }
  return size <= kShort ? encode_short(piece, size, out) : encode_long(piece, size, out);
}

std::size_t PieceEncoder::encode_short(const char* piece, std::size_t size,
                                       std::vector<std::uint32_t>* out) {
  // Part i is the bytes starts[i] … starts[i + 1]; ranks[i] that of parts i and i + 1 joined.
  std::uint8_t starts[kShort + 1];
  std::uint32_t ranks[kShort];
  const auto joined = [&](std::size_t from, std::size_t to) {
    return vocabulary_.rank(piece + starts[from], std::size_t{starts[to]} - starts[from]);
  };
  for (std::size_t i = 0; i <= size; ++i) starts[i] = static_cast<std::uint8_t>(i);
  std::size_t parts = size;
  for (std::size_t i = 0; i + 1 < parts; ++i) ranks[i] = joined(i, i + 2);
  ranks[parts - 1] = kNone;
  while (true) {
    const std::size_t best =
        static_cast<std::size_t>(std::min_element(ranks, ranks + parts) - ranks);
    if (ranks[best] == kNone) break;
    std::copy(starts + best + 2, starts + parts + 1, starts + best + 1);
    std::copy(ranks + best + 2, ranks + parts, ranks + best + 1);
    --parts;
    ranks[best] = best + 1 < parts ? joined(best, best + 2) : kNone;
    if (best > 0) ranks[best - 1] = joined(best - 1, best + 1);
  }
  if (out != nullptr) {
    for (std::size_t i = 0; i < parts; ++i) out->push_back(joined(i, i + 1));
  }
  return parts;
}

std::size_t PieceEncoder::encode_long(const char* piece, std::size_t size,
                                      std::vector<std::uint32_t>* out) {
  const auto length = static_cast<std::uint32_t>(size);
  ends_.resize(size);
  before_.resize(size);
  joined_.resize(size);
  queue_.clear();
  // The lowest rank first, and of equals the leftmost. Entries that were overtaken stay, and differ
  // from `joined_`.
  const auto later = std::greater<>();
  const auto join = [&](std::uint32_t part) {
    const std::uint32_t next = ends_[part];
    joined_[part] = next == length ? kNone : vocabulary_.rank(piece + part, ends_[next] - part);
    if (joined_[part] == kNone) return false;
    queue_.push_back(std::uint64_t{joined_[part]} << 32 | part);
    return true;
  };
  for (std::uint32_t i = length; i-- > 0;) {
    ends_[i] = i + 1;
    before_[i] = i - 1;
    join(i);
  }
  std::make_heap(queue_.begin(), queue_.end(), later);
  std::size_t parts = size;
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end(), later);
    const auto part = static_cast<std::uint32_t>(queue_.back());
    const auto rank = static_cast<std::uint32_t>(queue_.back() >> 32);
    queue_.pop_back();
    if (joined_[part] != rank) continue;
    const std::uint32_t taken = ends_[part];
    joined_[taken] = kNone;
    ends_[part] = ends_[taken];
    if (ends_[part] < length) before_[ends_[part]] = part;
    --parts;
    if (join(part)) std::push_heap(queue_.begin(), queue_.end(), later);
    if (part > 0 && join(before_[part])) std::push_heap(queue_.begin(), queue_.end(), later);
  }
  if (out != nullptr) {
    for (std::uint32_t i = 0; i < length; i = ends_[i]) {
      out->push_back(vocabulary_.rank(piece + i, ends_[i] - i));
    }
  }
  return parts;
}

}  // namespace skein
