#include "store/sqlite/known_threads.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/file.h"

namespace skein::sqlite {
namespace {

constexpr std::size_t kMostThreads = 8192;
constexpr std::size_t kMostChanges = 4096;
constexpr std::size_t kMostBytes = std::size_t{16} << 20;
// Events of a new thread that nobody has read.
constexpr std::size_t kMostUnread = 16;

std::size_t bytes_of(const Manifest& manifest) {
  const auto size = [](const std::optional<std::string>& text) { return text ? text->size() : 0; };
  return sizeof(Manifest) + size(manifest.title) + size(manifest.summary) +
         size(manifest.resolution) + size(manifest.session_id) + manifest.metadata.text().size() +
         manifest.extra.text().size() + manifest.pins.size() * sizeof(Seq);
}

}  // namespace

bool KnownThreads::holds() {
  const std::uint64_t number = shared_number_.read();
  if (number == number_) return true;
  // Another process wrote, or is writing: then what it leaves is not known yet.
  forget_all();
  if (number % 2 == 0) number_ = number;
  return number % 2 == 0;
}

std::optional<Manifest> KnownThreads::find(const ThreadRef& ref) {
  const std::lock_guard lock(mutex_);
  if (!holds()) return std::nullopt;
  std::optional<ThreadId> id = ref.id();
  if (!id) {
    const auto named = aliases_.find(ref.alias());
    if (named == aliases_.end()) return std::nullopt;
    id = named->second;
  }
  const Entry* entry = known(*id);
  if (entry == nullptr) return std::nullopt;
  return entry->manifest;
}

KnownThreads::Entry* KnownThreads::known(ThreadId id) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.in_doubt) return nullptr;
  used_.splice(used_.begin(), used_, found->second.used);
  return &found->second;
}

KnownThreads::Moment KnownThreads::now() {
  const std::lock_guard lock(mutex_);
  holds();
  return {era_, changes_};
}

std::optional<std::uint64_t> KnownThreads::era() {
  const std::lock_guard lock(mutex_);
  if (!holds()) return std::nullopt;
  return era_;
}

std::optional<Manifest> KnownThreads::find(ThreadId id, const Moment& before) {
  const std::lock_guard lock(mutex_);
  if (!holds() || era_ != before.era) return std::nullopt;
  const Entry* entry = known(id);
  // What came later may be of a later snapshot.
  if (entry == nullptr || entry->since > before.changes) return std::nullopt;
  return entry->manifest;
}

void KnownThreads::put(const Manifest& manifest, const Moment& before) {
  const std::lock_guard lock(mutex_);
  if (is_as_then(manifest.id, before)) store(manifest);
}

bool KnownThreads::is_as_then(ThreadId id, const Moment& before) {
  if (!holds() || era_ != before.era || before.changes < unrecorded_) return false;
  if (is_doubted(id)) return false;
  for (auto change = changed_.rbegin(); change != changed_.rend(); ++change) {
    if (change->at <= before.changes) return true;
    if (change->id == id) return false;
  }
  return true;
}

bool KnownThreads::read(ThreadId id, const ReadRange& range, RecentEvents::Rows& out) {
  const std::lock_guard lock(mutex_);
  Entry* entry = holds() ? known(id) : nullptr;
  if (entry == nullptr || !entry->events) return false;
  entry->read = true;
  return entry->events->read(range, out);
}

bool KnownThreads::has_events(ThreadId id) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  return found != entries_.end() && found->second.events;
}

bool KnownThreads::wants_events(ThreadId id) {
  const std::lock_guard lock(mutex_);
  return known(id) != nullptr;
}

void KnownThreads::put_events(ThreadId id, RecentEvents events, const Moment& before) {
  const std::lock_guard lock(mutex_);
  Entry* entry = is_as_then(id, before) ? known(id) : nullptr;
  if (entry == nullptr || entry->manifest.last_seq != events.last()) return;
  entry->events = std::move(events);
  entry->read = true;
  charge(*entry);
  make_room();
}

bool KnownThreads::is_doubted(ThreadId id) const {
  return doubted_ != nullptr &&
         std::any_of(doubted_->begin(), doubted_->end(),
                     [id](const ThreadChange& change) { return change.id == id; });
}

Result<void> KnownThreads::begin() {
  const std::lock_guard lock(mutex_);
  std::uint64_t number = shared_number_.read();
  if (number != number_) forget_all();
  number += number % 2 == 0 ? 1 : 2;  // odd, also after somebody who did not come to the end
  if (!shared_number_.write(number)) {
    return tl::unexpected(io_error("write", "the lock file", errno));
  }
  number_ = number;
  return {};
}

void KnownThreads::end() {
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t number = number_ + 1;
    // Where this fails, the number stays odd, and nobody trusts what they know until the next
    // write.
    if (shared_number_.write(number)) number_ = number;
  }
  shared_number_.wake();
}

void KnownThreads::doubt(const std::vector<ThreadChange>& changes) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  doubted_ = &changes;
  for (const ThreadChange& change : changes) {
    const auto found = entries_.find(change.id);
    if (found != entries_.end()) found->second.in_doubt = true;
  }
}

void KnownThreads::apply() {
  const std::lock_guard lock(mutex_);
  ++changes_;
  for (const ThreadChange& change : *std::exchange(doubted_, nullptr)) {
    changed_.push_back({change.id, changes_});
    if (change.manifest) {
      store(*change.manifest);
      continue;
    }
    const auto found = entries_.find(change.id);
    if (found == entries_.end()) continue;
    if (change.removed)
      forget(found);
    else
      append(found->second, change);
  }
  make_room();
  while (changed_.size() > kMostChanges) {
    unrecorded_ = changed_.front().at;
    changed_.pop_front();
  }
}

void KnownThreads::append(Entry& entry, const ThreadChange& change) {
  entry.manifest.last_seq = change.last_seq;
  entry.manifest.updated_at = Timestamp{change.updated};
  entry.since = changes_;
  entry.in_doubt = false;
  if (!entry.events) return;
  const bool wanted = entry.read || entry.events->size() < kMostUnread;
  // Without its event, they came after the append.
  if (!change.event || !wanted || !entry.events->add(change.event, change.base)) {
    entry.events.reset();
  }
  charge(entry);
}

void KnownThreads::clear() {
  const std::lock_guard lock(mutex_);
  doubted_ = nullptr;
  forget_all();
}

void KnownThreads::store(const Manifest& manifest) {
  const auto [place, fresh] = entries_.try_emplace(manifest.id);
  Entry& entry = place->second;
  if (fresh) {
    used_.push_front(manifest.id);
    entry.used = used_.begin();
    if (manifest.alias) aliases_.insert_or_assign(*manifest.alias, manifest.id);
    // Whatever is appended to a new thread is then known, too.
    if (manifest.last_seq == 0) entry.events.emplace();
  }
  entry.manifest = manifest;
  entry.since = changes_;
  entry.in_doubt = false;
  if (entry.events && entry.events->last() != manifest.last_seq) entry.events.reset();
  charge(entry);
  make_room();
}

void KnownThreads::charge(Entry& entry) {
  const std::size_t bytes = bytes_of(entry.manifest) + (entry.events ? entry.events->bytes() : 0);
  bytes_ += bytes - entry.bytes;
  entry.bytes = bytes;
}

void KnownThreads::make_room() {
  while (bytes_ > kMostBytes || entries_.size() > kMostThreads) {
    forget(entries_.find(used_.back()));
  }
}

void KnownThreads::forget(Entries::iterator entry) {
  const Manifest& manifest = entry->second.manifest;
  if (manifest.alias) aliases_.erase(*manifest.alias);
  bytes_ -= entry->second.bytes;
  used_.erase(entry->second.used);
  entries_.erase(entry);
}

void KnownThreads::forget_all() {
  ++era_;
  entries_.clear();
  used_.clear();
  aliases_.clear();
  bytes_ = 0;
}

}  // namespace skein::sqlite
