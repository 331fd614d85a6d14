#include "work/checkpoint_candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/quote.h"

namespace skein {
namespace {

constexpr std::size_t kMostNamed = 10;
constexpr std::size_t kMostIdBytes = 255;  // that a message shows: as many as a file name has
constexpr std::size_t kPrefixBytes = 18;   // T-20260123-143052-

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

// An id without its time, and without the mark of automatic ones.
std::string_view slug_of(std::string_view id, bool automatic) {
  constexpr std::string_view kMark = "auto-";
  const bool timed = id.size() > kPrefixBytes && id.starts_with("t-") && id[10] == '-' &&
                     id[kPrefixBytes - 1] == '-';
  if (timed) id.remove_prefix(kPrefixBytes);
  if (automatic && id.starts_with(kMark)) id.remove_prefix(kMark.size());
  return id;
}

// 0 is the best.
enum Fit : std::size_t { kId, kSlug, kAutoSlug, kPart, kAutoPart, kNone };

Fit fit_of(const IndexedCheckpoint& checkpoint, std::string_view part) {
  const CheckpointEntry& entry = checkpoint.entry;
  const std::string id = lower(entry.id);
  const std::string title = entry.older ? lower(entry.title) : "";
  const bool automatic = entry.type == CheckpointType::kAuto || !checkpoint.problem.empty();
  if (id == part) return kId;
  if (slug_of(id, automatic) == part || title == part) return automatic ? kAutoSlug : kSlug;
  if (id.find(part) == std::string::npos && title.find(part) == std::string::npos) return kNone;
  return automatic ? kAutoPart : kPart;
}

}  // namespace

CheckpointCandidates find_candidates(const std::vector<IndexedCheckpoint>& all,
                                     std::string_view part) {
  std::array<std::vector<const IndexedCheckpoint*>, kNone> fitting;
  const std::string wanted = lower(part);
  for (const IndexedCheckpoint& checkpoint : all) {
    const Fit fit = fit_of(checkpoint, wanted);
    if (fit != kNone) fitting[fit].push_back(&checkpoint);
  }
  // An id that is both in use and archived is the one in use.
  if (auto& same = fitting[kId]; same.size() > 1) {
    const auto in_use = std::find_if(same.begin(), same.end(), [](const auto* checkpoint) {
      return !checkpoint->entry.older && checkpoint->entry.archive.empty();
    });
    same = {in_use == same.end() ? same.front() : *in_use};
  }
  for (std::size_t fit = 0; fit < kNone; ++fit) {
    if (!fitting[fit].empty()) return {std::move(fitting[fit]), fit < kPart};
  }
  return {};
}

std::string candidates_text(const std::vector<const IndexedCheckpoint*>& candidates,
                            std::string_view part) {
  std::string text =
      fmt::format("{} checkpoints have {} in their ids:", candidates.size(), quote(part));
  for (std::size_t i = 0; i < std::min(candidates.size(), kMostNamed); ++i) {
    text += (i > 0 ? ", " : " ") + quote(candidates[i]->entry.id, kMostIdBytes);
  }
  return candidates.size() > kMostNamed ? text + " …" : text;
}

}  // namespace skein
