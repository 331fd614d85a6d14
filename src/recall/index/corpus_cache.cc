#include "recall/index/corpus_cache.h"

#include <fmt/format.h>

#include <unordered_set>

#include "core/try.h"
#include "recall/index/message_writer.h"
#include "recall/index/names.h"
#include "skein/recall.h"

namespace skein {
namespace {

// The agents as the statements below take them: nothing for all, a number for one, a JSON array of
// numbers for several.
struct AgentsToLoad {
  std::optional<std::int64_t> one;
  std::optional<std::string> several;

  static AgentsToLoad of(const std::vector<std::int64_t>& numbers) {
    if (numbers.size() == 1) return {numbers.front(), std::nullopt};
    return {std::nullopt, fmt::format("[{}]", fmt::join(numbers, ","))};
  }
};

// Loads what some agents have, or all agents have, from the index.
class Loader {
 public:
  Loader(Database& db, LoadedCorpus& loaded, AgentsToLoad agents)
      : db_(db), loaded_(loaded), corpus_(loaded.corpus), agents_(std::move(agents)) {}

  // Before the first message. What the agents say they have is not believed beyond what there is.
  Result<void> make_room() {
    SKEIN_ASSIGN(Query query,
                 db_.query("SELECT max(0, min(total(messages), "
                           "(SELECT ifnull(max(message), 0) FROM messages))) FROM agents WHERE "
                           "agent = ?1 OR agent IN "
                           "(SELECT value FROM json_each(?2)) OR (?1 IS NULL AND ?2 IS NULL)"));
    query.bind(agents_.one, agents_.several);
    SKEIN_ASSIGN(const bool row, query.step());
    if (row) {
      corpus_.reserve(
          std::min<std::size_t>(static_cast<std::size_t>(query.integer(0)), kMaxCorpusMessages));
    }
    return {};
  }

  Result<void> add_messages() {
    SKEIN_ASSIGN(Query query, db_.query(messages_sql()));
    bind(query, corpus_.last_id());
    for (;;) {
      SKEIN_ASSIGN(const bool row, query.step());
      if (!row) return {};
      const std::int64_t flags = query.integer(5);
      corpus_.add({
          .id = query.integer(0),
          .thread = ThreadId::from_bits(static_cast<std::uint64_t>(query.integer(1))),
          .seq = static_cast<Seq>(query.integer(2)),
          .time = Timestamp{query.integer(3)},
          .words = static_cast<std::uint32_t>(query.integer(4)),
          .role = (flags & kAssistantFlag) != 0 ? Role::kAssistant : Role::kUser,
          .asks = (flags & kAsksFlag) != 0,
          .language = language_of(flags),
          .speaker = static_cast<SpeakerId>(query.integer(6)),
          .terms = query.bytes(7),
      });
    }
  }

  // Of threads that lost messages since the generation.
  Result<void> remove_messages(std::int64_t since) {
    std::vector<ThreadId> threads;
    {
      SKEIN_ASSIGN(Query query, db_.query("SELECT thread FROM threads WHERE changed > ?"));
      query.bind(since);
      for (;;) {
        SKEIN_ASSIGN(const bool row, query.step());
        if (!row) break;
        threads.push_back(ThreadId::from_bits(static_cast<std::uint64_t>(query.integer(0))));
      }
    }
    for (const ThreadId thread : threads) {
      if (corpus_.last_of(thread) != kNowhere) SKEIN_TRY(compare(thread));
    }
    return {};
  }

  Result<void> add_vectors(std::int64_t since, std::int64_t model, bool pairs) {
    // All at once in the order of messages, what is new by its index.
    SKEIN_ASSIGN(Query query, db_.query(since < 0 ? "SELECT message, first, second FROM vectors "
                                                    "WHERE model = ?1 ORDER BY message"
                                                  : "SELECT message, first, second FROM vectors "
                                                    "WHERE model = ?1 AND generation > ?2"));
    if (since < 0) {
      query.bind(model);
    } else {
      query.bind(model, since);
    }
    for (;;) {
      SKEIN_ASSIGN(const bool row, query.step());
      if (!row) return {};
      const auto place = corpus_.find(query.integer(0));
      if (!place || !corpus_.alive(*place)) continue;
      corpus_.first.set(*place, query.bytes(1));
      if (pairs && !query.is_null(2)) corpus_.second.set(*place, query.bytes(2));
    }
  }

  Result<void> load_speakers() {
    std::unordered_set<SpeakerId> used;
    for (Place place = 0; place < corpus_.size(); ++place) {
      if (corpus_.alive(place) && corpus_.speaker(place) != 0) used.insert(corpus_.speaker(place));
    }
    loaded_.speakers.clear();
    SKEIN_ASSIGN(Query query, db_.query("SELECT speaker, name FROM speakers"));
    for (;;) {
      SKEIN_ASSIGN(const bool row, query.step());
      if (!row) return {};
      const auto speaker = static_cast<SpeakerId>(query.integer(0));
      if (used.contains(speaker))
        loaded_.speakers.push_back({speaker, std::string(query.bytes(1))});
    }
  }

 private:
  // One agent's messages come in order from their index; several agents' must be sorted.
  const char* messages_sql() const {
    if (agents_.one) {
      return "SELECT message, thread, seq, time, words, flags, speaker, terms FROM messages "
             "WHERE message > ?1 AND agent = ?2 ORDER BY message";
    }
    if (agents_.several) {
      return "SELECT message, thread, seq, time, words, flags, speaker, terms FROM messages "
             "WHERE message > ?1 AND agent IN (SELECT value FROM json_each(?2)) ORDER BY message";
    }
    return "SELECT message, thread, seq, time, words, flags, speaker, terms FROM messages "
           "WHERE message > ?1 ORDER BY message";
  }

  void bind(Query& query, std::int64_t first) const {
    if (agents_.one) {
      query.bind(first, *agents_.one);
    } else if (agents_.several) {
      query.bind(first, std::string_view(*agents_.several));
    } else {
      query.bind(first);
    }
  }

  static Language language_of(std::int64_t flags) {
    const auto number = static_cast<std::size_t>(flags >> kLanguageShift);
    return number < kLanguages ? static_cast<Language>(number) : Language::kUnknown;
  }

  Result<void> compare(ThreadId thread) {
    std::unordered_set<std::int64_t> there;
    SKEIN_ASSIGN(Query query, db_.query("SELECT message FROM messages WHERE thread = ?"));
    query.bind(thread.bits());
    for (;;) {
      SKEIN_ASSIGN(const bool row, query.step());
      if (!row) break;
      there.insert(query.integer(0));
    }
    for (Place place = corpus_.last_of(thread); place != kNowhere;) {
      const Place before = corpus_.before(place);
      if (!there.contains(corpus_.id(place))) corpus_.remove(place);
      place = before;
    }
    return {};
  }

  Database& db_;
  LoadedCorpus& loaded_;
  Corpus& corpus_;
  const AgentsToLoad agents_;
};

}  // namespace

Result<std::shared_ptr<LoadedCorpus>> CorpusCache::get(IndexReading& reading,
                                                       const AgentNames& agents) {
  std::shared_ptr<LoadedCorpus> loaded = find(agents);
  SKEIN_ASSIGN(const auto generation, reading.generation());
  {
    const std::shared_lock reader(loaded->mutex);
    if (loaded->generation == generation) return loaded;
  }
  {
    const std::unique_lock writer(loaded->mutex);
    if (loaded->generation != generation) SKEIN_TRY(refresh(reading, *loaded));
  }
  make_room(*loaded);
  return loaded;
}

std::shared_ptr<LoadedCorpus> CorpusCache::find(const AgentNames& agents) {
  const std::lock_guard lock(mutex_);
  for (auto it = corpora_.begin(); it != corpora_.end(); ++it) {
    if ((*it)->agents != agents) continue;
    corpora_.splice(corpora_.begin(), corpora_, it);
    return corpora_.front();
  }
  corpora_.push_front(std::make_shared<LoadedCorpus>());
  corpora_.front()->agents = agents;
  return corpora_.front();
}

// What was not used for the longest time goes; whoever still searches in it keeps it until then.
void CorpusCache::make_room(const LoadedCorpus& wanted) {
  const std::lock_guard lock(mutex_);
  std::size_t messages = 0;
  for (auto it = corpora_.begin(); it != corpora_.end();) {
    const std::shared_ptr<LoadedCorpus> loaded = *it;  // outlives the lock on it
    const std::shared_lock reader(loaded->mutex);
    const std::size_t more = loaded->corpus.size();
    const bool stays = loaded.get() == &wanted || messages + more <= limits::kMaxCachedMessages;
    if (stays) messages += more;
    it = stays ? std::next(it) : corpora_.erase(it);
  }
}

Result<void> CorpusCache::refresh(IndexReading& reading, LoadedCorpus& loaded) const {
  Database& db = reading.db();
  SKEIN_ASSIGN(const auto generation, reading.generation());
  SKEIN_ASSIGN(const auto reload_from, index_number(db, kReloadFrom));
  std::vector<std::int64_t> agents;
  if (loaded.agents) {
    SKEIN_ASSIGN(agents, find_agents(db, loaded.agents));
  }
  std::int64_t model = 0;
  if (!model_.name.empty()) {
    SKEIN_ASSIGN(const auto number, find_name(db, kModelNames, model_.name));
    model = number.value_or(0);
  }
  std::int64_t since = loaded.generation;
  Corpus& corpus = loaded.corpus;
  const bool is_wasteful = corpus.size() > 2 * corpus.messages() + 1000;
  if (since < reload_from || generation < since || loaded.model != model || is_wasteful) since = -1;
  loaded.generation = -1;  // until all went well
  if (since < 0) {
    corpus = Corpus();
    if (model != 0) corpus.first.reset(model_.dimensions);
    if (model != 0) corpus.second.reset(model_.dimensions);
  }
  Loader loader(db, loaded, loaded.agents ? AgentsToLoad::of(agents) : AgentsToLoad());
  if (loaded.agents && agents.empty()) {
    corpus.build();  // the index has never heard of these agents
  } else {
    SKEIN_TRY(since < 0 ? loader.make_room() : loader.remove_messages(since));
    SKEIN_TRY(loader.add_messages());
    if (since < 0) corpus.build();
    const bool pairs = corpus.messages() <= limits::kMaxPairedMessages;
    if (!pairs && corpus.second.count() > 0) corpus.second.reset(model_.dimensions);
    if (model != 0) SKEIN_TRY(loader.add_vectors(since, model, pairs));
    SKEIN_TRY(loader.load_speakers());
  }
  loaded.model = model;
  loaded.generation = generation;
  return {};
}

}  // namespace skein
