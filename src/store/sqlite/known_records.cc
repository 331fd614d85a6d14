#include "store/sqlite/known_records.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace skein::sqlite {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 10;  // of one collection
constexpr std::size_t kMostCollections = 64;

}  // namespace

bool KnownRecords::holds() {
  const auto era = threads_.era();
  if (era && *era == era_) return true;
  collections_.clear();
  if (era) era_ = *era;
  return era.has_value();
}

bool KnownRecords::scan(const ScanRange& range, std::vector<Record>& out) {
  const std::lock_guard lock(mutex_);
  if (!holds() || is_doubted(range.collection)) return false;
  const auto found = collections_.find(range.collection);
  if (found == collections_.end() || !found->second.records) return false;
  const auto& records = *found->second.records;
  const auto first = records.lower_bound(range.from);
  const auto last = range.to.empty() ? records.end() : records.lower_bound(range.to);
  if (first == records.end() || (last != records.end() && last->first <= first->first)) return true;
  if (range.direction == Direction::kForward) {
    for (auto at = first; at != last && out.size() < range.limit; ++at) out.push_back(at->second);
  } else {
    for (auto at = last; at != first && out.size() < range.limit;) out.push_back((--at)->second);
  }
  return true;
}

std::optional<KnownRecords::Moment> KnownRecords::wants(std::string_view collection) {
  const std::lock_guard lock(mutex_);
  if (!holds() || is_doubted(collection)) return std::nullopt;
  const auto found = collections_.find(collection);
  const bool known = found != collections_.end();
  // Known without records: there are too many.
  if (known && found->second.changed == 0) return std::nullopt;
  if (!known && collections_.size() >= kMostCollections) return std::nullopt;
  if (!known) collections_.emplace(collection, Collection{.changed = ++changes_});
  return Moment{era_, changes_};
}

void KnownRecords::put(std::string_view collection, std::vector<Record> records,
                       const Moment& before) {
  const std::lock_guard lock(mutex_);
  if (!holds() || era_ != before.era || is_doubted(collection)) return;
  const auto found = collections_.find(collection);
  if (found == collections_.end()) return;
  Collection& known = found->second;
  if (known.records || known.changed > before.changes) return;
  known.records.emplace();
  known.bytes = 0;
  for (Record& record : records) {
    known.bytes += record.key.size() + record.bytes.size();
    std::string key = record.key;
    known.records->emplace(std::move(key), std::move(record));
  }
  forget_if_large(known);
}

void KnownRecords::forget_if_large(Collection& collection) {
  if (collection.records->size() <= kMostRecords && collection.bytes <= kMostBytes) return;
  collection.records.reset();
  collection.changed = 0;
}

void KnownRecords::doubt(const std::vector<RecordChange>& changes) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  for (const RecordChange& change : changes) {
    if (!is_doubted(change.collection)) doubted_.push_back(change.collection);
  }
}

bool KnownRecords::is_doubted(std::string_view collection) const {
  return std::find(doubted_.begin(), doubted_.end(), collection) != doubted_.end();
}

void KnownRecords::apply(std::vector<RecordChange>& changes) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  doubted_.clear();
  for (RecordChange& one : changes) {
    const auto found = collections_.find(one.collection);
    if (found != collections_.end()) change(found->second, one);
  }
}

void KnownRecords::change(Collection& collection, RecordChange& change) {
  if (collection.changed != 0) collection.changed = changes_;
  if (!collection.records) return;
  auto& records = *collection.records;
  if (const auto old = records.find(change.key); old != records.end()) {
    collection.bytes -= old->second.key.size() + old->second.bytes.size();
    records.erase(old);
  }
  if (!change.bytes) return;
  collection.bytes += change.key.size() + change.bytes->size();
  std::string key = change.key;
  records.emplace(std::move(key),
                  Record{std::move(change.key), std::move(*change.bytes), change.version});
  forget_if_large(collection);
}

void KnownRecords::clear() {
  const std::lock_guard lock(mutex_);
  ++changes_;
  doubted_.clear();
  collections_.clear();
}

}  // namespace skein::sqlite
