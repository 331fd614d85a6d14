#include "support/broken_store.h"

#include <algorithm>
#include <span>
#include <utility>

#include "support/passing_store.h"

namespace skein::test {
namespace {

class LosesAnAppend final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  std::vector<Result<Appended>> append(std::span<const Append> appends) override {
    const auto thread = inner_.get(appends.back().thread);
    if (++calls_ % 10 != 0 || !thread.has_value() || !*thread) return inner_.append(appends);
    std::vector<Result<Appended>> results = inner_.append(appends.first(appends.size() - 1));
    const auto now = inner_.get(appends.back().thread);
    results.emplace_back(Appended{(*now)->last_seq + 1, false});
    return results;
  }

 private:
  int calls_ = 0;
};

class WritesTwice final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  std::vector<Result<Appended>> append(std::span<const Append> appends) override {
    std::vector<Result<Appended>> results = inner_.append(appends);
    if (++calls_ % 5 == 0) inner_.append(appends.last(1));
    return results;
  }

 private:
  int calls_ = 0;
};

class ReordersABatch final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  std::vector<Result<Appended>> append(std::span<const Append> appends) override {
    std::vector<Append> reversed(appends.rbegin(), appends.rend());
    std::vector<Result<Appended>> results = inner_.append(reversed);
    std::reverse(results.begin(), results.end());
    return results;
  }
};

// Changes each append before it is passed on.
template <void (*damage)(Append&)>
class DamagesAppends final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  std::vector<Result<Appended>> append(std::span<const Append> appends) override {
    std::vector<Append> damaged(appends.begin(), appends.end());
    for (Append& append : damaged) damage(append);
    return inner_.append(damaged);
  }
};

void forget_key(Append& append) { append.event.key.clear(); }
void forget_fence(Append& append) { append.fence.reset(); }
void forget_base(Append& append) { append.event.base.reset(); }
void forget_expected_seq(Append& append) { append.expect_seq.reset(); }
void forget_unknown_fields(Append& append) {
  if (append.event.extra.text().find("x-big") != std::string::npos) append.event.extra = Json();
}

class SwapsEvents final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<void> read(ThreadId id, const ReadRange& range, const EventSink& sink) override {
    std::vector<Event> events;
    Result<void> result = inner_.read(id, range, [&events](Event& event) {
      events.push_back(std::move(event));
      return true;
    });
    if (events.size() > 3) std::swap(events[1], events[2]);
    for (Event& event : events) {
      if (!sink(event)) break;
    }
    return result;
  }
};

class CutsTextAtNul final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<void> read(ThreadId id, const ReadRange& range, const EventSink& sink) override {
    return inner_.read(id, range, [&sink](Event& event) {
      if (auto* said = std::get_if<Message>(&event.payload)) said->text = said->text.c_str();
      return sink(event);
    });
  }
};

class ReadsOneTooMany final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<void> read(ThreadId id, const ReadRange& range, const EventSink& sink) override {
    ReadRange more = range;
    if (more.limit < 100) ++more.limit;
    return inner_.read(id, more, sink);
  }
};

class WidensFilters final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<ThreadPage> list(const ListQuery& query) override {
    ListQuery wider = query;
    std::erase_if(wider.metadata, [](const MetadataEquals& term) { return term.key.size() > 1; });
    return inner_.list(wider);
  }
};

class SkipsTheLastOfAPage final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<ThreadPage> list(const ListQuery& query) override {
    Result<ThreadPage> page = inner_.list(query);
    if (page.has_value() && !page->next.empty()) page->threads.pop_back();
    return page;
  }
};

class IgnoresFencesOnUpdate final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<Manifest> update(ThreadId id, const ManifestPatch& patch,
                          const UpdateOptions& options) override {
    return inner_.update(id, patch, {options.expect_version, std::nullopt});
  }
};

class IgnoresVersionsOnUpdate final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<Manifest> update(ThreadId id, const ManifestPatch& patch,
                          const UpdateOptions& options) override {
    return inner_.update(id, patch, {std::nullopt, options.fence});
  }
};

class WritesRecordsOneByOne final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<std::vector<Version>> write(std::span<const RecordWrite> writes) override {
    std::vector<Version> versions;
    for (const RecordWrite& write : writes) {
      Result<std::vector<Version>> one = inner_.write(std::span(&write, 1));
      if (!one.has_value()) return one;
      versions.push_back(one->front());
    }
    return versions;
  }
};

class IgnoresFencesOnRecords final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<std::vector<Version>> write(std::span<const RecordWrite> writes) override {
    std::vector<RecordWrite> damaged(writes.begin(), writes.end());
    for (RecordWrite& write : damaged) write.fence.reset();
    return inner_.write(damaged);
  }
};

class ScansBeyondTheEnd final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<std::vector<Record>> scan(const ScanRange& range) override {
    ScanRange longer = range;
    if (!longer.to.empty()) longer.to += '\0';
    return inner_.scan(longer);
  }
};

class LosesAChange final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<ChangeBatch> changes(std::string_view cursor, std::size_t limit,
                              std::chrono::milliseconds wait) override {
    Result<ChangeBatch> batch = inner_.changes(cursor, limit, wait);
    if (batch.has_value() && batch->changes.size() > 1 && ++calls_ % 10 == 0) {
      batch->changes.pop_back();
    }
    return batch;
  }

 private:
  int calls_ = 0;
};

class RepeatsAChange final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<ChangeBatch> changes(std::string_view cursor, std::size_t limit,
                              std::chrono::milliseconds wait) override {
    Result<ChangeBatch> batch = inner_.changes(cursor, limit, wait);
    if (batch.has_value() && !batch->changes.empty() && ++calls_ % 10 == 0) {
      batch->changes.push_back(batch->changes.back());
    }
    return batch;
  }

 private:
  int calls_ = 0;
};

class TakesTimeBackwards final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<std::optional<Manifest>> get(const ThreadRef& ref) override {
    auto manifest = inner_.get(ref);
    if (manifest.has_value() && *manifest) (*manifest)->updated_at = (*manifest)->created_at;
    return manifest;
  }
};

class ForksOneShort final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<Manifest> create(const NewThread& thread) override {
    NewThread shorter = thread;
    if (shorter.from && shorter.from->seq > 1) --shorter.from->seq;
    return inner_.create(shorter);
  }
};

class ForgetsLeasesOnReopen final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<Lease> lease(ThreadId id, std::string_view holder, std::chrono::milliseconds ttl,
                      std::optional<LeaseToken> token) override {
    if (token && std::find(known_.begin(), known_.end(), *token) == known_.end()) {
      return fail(ErrorCode::kFenced, "forgotten");
    }
    Result<Lease> lease = inner_.lease(id, holder, ttl, token);
    if (lease.has_value()) known_.push_back(lease->token);
    return lease;
  }

 private:
  std::vector<LeaseToken> known_;
};

struct Bug {
  const char* name;
  std::unique_ptr<Store> (*make)(Store&);
};

template <class Broken>
std::unique_ptr<Store> make(Store& inner) {
  return std::make_unique<Broken>(inner);
}

constexpr Bug kBugs[] = {
    {"LosesAnAppend", make<LosesAnAppend>},
    {"WritesTwice", make<WritesTwice>},
    {"ReordersABatch", make<ReordersABatch>},
    {"ForgetsKeys", make<DamagesAppends<forget_key>>},
    {"IgnoresFencesOnAppend", make<DamagesAppends<forget_fence>>},
    {"ForgetsBase", make<DamagesAppends<forget_base>>},
    {"IgnoresTheExpectedSeq", make<DamagesAppends<forget_expected_seq>>},
    {"ForgetsUnknownFields", make<DamagesAppends<forget_unknown_fields>>},
    {"SwapsEvents", make<SwapsEvents>},
    {"CutsTextAtNul", make<CutsTextAtNul>},
    {"ReadsOneTooMany", make<ReadsOneTooMany>},
    {"WidensFilters", make<WidensFilters>},
    {"SkipsTheLastOfAPage", make<SkipsTheLastOfAPage>},
    {"IgnoresFencesOnUpdate", make<IgnoresFencesOnUpdate>},
    {"IgnoresVersionsOnUpdate", make<IgnoresVersionsOnUpdate>},
    {"WritesRecordsOneByOne", make<WritesRecordsOneByOne>},
    {"IgnoresFencesOnRecords", make<IgnoresFencesOnRecords>},
    {"ScansBeyondTheEnd", make<ScansBeyondTheEnd>},
    {"LosesAChange", make<LosesAChange>},
    {"RepeatsAChange", make<RepeatsAChange>},
    {"TakesTimeBackwards", make<TakesTimeBackwards>},
    {"ForksOneShort", make<ForksOneShort>},
    {"ForgetsLeasesOnReopen", make<ForgetsLeasesOnReopen>},
};

}  // namespace

std::vector<std::string> bug_names() {
  std::vector<std::string> names;
  for (const Bug& bug : kBugs) names.emplace_back(bug.name);
  return names;
}

std::unique_ptr<Store> break_store(Store& inner, const std::string& bug) {
  const auto* at = std::find_if(std::begin(kBugs), std::end(kBugs),
                                [&bug](const Bug& known) { return bug == known.name; });
  return at == std::end(kBugs) ? nullptr : at->make(inner);
}

}  // namespace skein::test
