#include "store/sqlite/recent_events.h"

#include <algorithm>
#include <utility>

#include "core/json.h"

namespace skein::sqlite {
namespace {

constexpr std::size_t kMostRows = 128;
constexpr std::size_t kMostBytes = std::size_t{64} << 10;
constexpr std::size_t kMostBranches = 128;

}  // namespace

RecentEvents::Kept::Kept(const EventRow& original) : row(original) {
  bytes.reserve(row.key.size() + row.body.size() + JsonObjectReader::kPadding);
  bytes.append(row.key).append(row.body).append(JsonObjectReader::kPadding, '\0');
  row.body = std::string_view(bytes).substr(row.key.size(), row.body.size());
  row.key = std::string_view(bytes).substr(0, row.key.size());
}

std::optional<RecentEvents> RecentEvents::of(std::span<const EventRow> rows, Direction direction,
                                             std::vector<Branch> branches) {
  std::size_t bytes = 0;
  for (const EventRow& row : rows) {
    if (row.missing != nullptr) return std::nullopt;
    bytes += row.body.size();
  }
  if (rows.empty() || rows.size() > kMostRows || bytes > kMostBytes) return std::nullopt;
  if (branches.size() > kMostBranches) return std::nullopt;
  RecentEvents recent;
  recent.branches_ = std::move(branches);
  const bool forward = direction == Direction::kForward;
  recent.first_ = (forward ? rows.front() : rows.back()).seq;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    recent.push(std::make_shared<const Kept>(rows[forward ? i : rows.size() - 1 - i]));
  }
  return recent;
}

void RecentEvents::push(std::shared_ptr<const Kept> event) {
  bytes_ += sizeof(Kept) + event->bytes.size();
  rows_.push_back(std::move(event));
}

bool RecentEvents::add(std::shared_ptr<const Kept> event, std::optional<Seq> base) {
  const Seq seq = event->row.seq;
  if (base && *base + 1 != seq) branches_.push_back({seq, *base});
  push(std::move(event));
  while (rows_.size() > 1 && (rows_.size() > kMostRows || bytes_ > kMostBytes)) {
    bytes_ -= sizeof(Kept) + rows_.front()->bytes.size();
    rows_.erase(rows_.begin());
    ++first_;
  }
  return branches_.size() <= kMostBranches;
}

bool RecentEvents::read(const ReadRange& range, Rows& out) const {
  const bool forward = range.direction == Direction::kForward;
  std::uint64_t left = range.limit;
  for (const SeqSpan& span : plan_read(range, last(), branches_)) {
    for (Seq i = 0; i <= span.last - span.first && left > 0; ++i, --left) {
      const Seq seq = forward ? span.first + i : span.last - i;
      if (seq < first_) return false;
      out.push_back(rows_[seq - first_]);
    }
  }
  return true;
}

}  // namespace skein::sqlite
