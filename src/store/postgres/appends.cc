#include "store/postgres/appends.h"

#include <algorithm>
#include <optional>

#include "core/try.h"
#include "store/append_parts.h"
#include "store/checks.h"
#include "store/lease.h"

namespace skein::postgres {
namespace {

class AppendJob : public Job {
 public:
  explicit AppendJob(AppendPart& part) : part_(part) {
    items = part.items.size();
    bytes = part.bytes;
    subject = part.items.front().append->thread.bits();
  }

  void want(Wanted& wanted) override {
    for (const Item& item : part_.items) {
      Growth& growth = wanted.grown[item.append->thread];
      growth.latest = growth.count == 0 ? item.event.timestamp_us
                                        : std::max(growth.latest, item.event.timestamp_us);
      ++growth.count;
      if (!item.event.key.empty()) wanted.keys.emplace(item.append->thread, item.event.key);
    }
    wanted.positions += part_.items.size();
    if (witness_) wanted.witnesses.insert(*witness_);
  }

  bool apply(WriteBatch& batch) override {
    witness_.reset();
    for (const Item& item : part_.items) part_.answers[item.answer] = append_one(batch, item);
    return true;
  }

  Committed committed(Loaded& loaded) const override {
    if (!witness_) return Committed::kUnknown;
    if (loaded.witnesses.contains(*witness_)) return Committed::kYes;
    // A thread that was removed takes the proof with it.
    return loaded.head(witness_->thread) ? Committed::kNo : Committed::kUnknown;
  }

 private:
  using Item = AppendPart::Item;

  Result<Appended> append_one(WriteBatch& batch, const Item& item) {
    const Append& append = *item.append;
    Head* head = batch.loaded.head(append.thread);
    if (head == nullptr) return tl::unexpected(unknown_thread(append.thread));
    SKEIN_TRY(check_fence(head->lease, append.thread, append.fence));
    const EventKey key(append.thread, item.event.key);
    if (const auto known = batch.loaded.keys.find(key);
        !item.event.key.empty() && known != batch.loaded.keys.end()) {
      const Seq seq = known->second.seq;
      if (same_event(*known->second.event, append.event)) return Appended{seq, true};
      return tl::unexpected(key_reused(append.thread, item.event.key, seq));
    }
    SKEIN_TRY(check_manifest_version(append, head->version));
    SKEIN_TRY(check_position(append, head->last_seq + 1));
    batch.add_event(*head, item.event);
    if (!witness_) witness_ = Witness{append.thread, head->last_seq, batch.mark};
    if (!item.event.key.empty())
      batch.loaded.keys.insert_or_assign(key, KnownEvent{head->last_seq, &append.event, nullptr});
    return Appended{head->last_seq, false};
  }

  AppendPart& part_;
  std::optional<Witness> witness_;  // the first event that was written
};

}  // namespace

std::vector<Result<Appended>> append_events(Writer& writer, const StoreOptions& options,
                                            std::span<const Append> appends) {
  return append_in_parts(*options.clock, appends, [&](AppendPart& part) {
    AppendJob job(part);
    return writer.run(job);
  });
}

}  // namespace skein::postgres
