#include "recall/searcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/json.h"
#include "core/quote.h"
#include "core/try.h"
#include "recall/index/message_writer.h"
#include "recall/index/names.h"
#include "recall/pending.h"

namespace skein {
namespace {

Result<void> check_limit(std::string_view what, std::size_t value, std::size_t least,
                         std::size_t most) {
  if (value >= least && value <= most) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("{} must be {} to {}, not {}", what, least, most, value));
}

SearchReasons reasons_of(const RankParts& parts) {
  return {.words = parts.lexical,
          .meaning = parts.meaning,
          .surroundings = parts.surroundings,
          .length = parts.length,
          .speaker = parts.speaker,
          .date = parts.date,
          .recency = parts.recency};
}

}  // namespace

Result<void> check_search(std::string_view query, const SearchOptions& options) {
  if (query.size() > limits::kMaxQueryBytes) {
    return fail(ErrorCode::kInvalid, fmt::format("a query has at most {} bytes, this one has {}",
                                                 limits::kMaxQueryBytes, query.size()));
  }
  if (!valid_utf8(query)) {
    return fail(ErrorCode::kInvalid, "a query must be UTF-8: " + quote(query));
  }
  WordSplitter splitter;
  if (splitter.split(query).empty()) {
    return fail(ErrorCode::kInvalid, "a query must have a word in it: " + quote(query));
  }
  if (options.agents && options.agents->empty()) {
    return fail(ErrorCode::kInvalid, "a search must cover at least one agent; the list is empty");
  }
  for (const std::string& agent : options.agents.value_or(std::vector<std::string>())) {
    SKEIN_TRY(check_agent_id(agent));
  }
  SKEIN_TRY(check_limit("limit", options.limit, 1, limits::kMaxSearchResults));
  SKEIN_TRY(check_limit("context", options.context, 0, limits::kMaxSearchContext));
  SKEIN_TRY(check_limit("results per thread", options.per_thread, 1, limits::kMaxSearchResults));
  for (const Role role : options.roles) {
    if (role == Role::kUser || role == Role::kAssistant) continue;
    return fail(ErrorCode::kInvalid,
                fmt::format("search is over messages of the roles user and assistant, not {}",
                            to_string(role)));
  }
  return {};
}

Searcher::Searcher(Store& store, IndexFile& file, Embedder* embedder, Clock& clock)
    : store_(store),
      file_(file),
      embedder_(embedder),
      clock_(clock),
      cache_(embedder == nullptr ? CorpusCache::Model{}
                                 : CorpusCache::Model{embedder->model(), embedder->dimensions()}) {}

class Searcher::Search {
 public:
  Search(Searcher& searcher, std::string_view query, const SearchOptions& options)
      : searcher_(searcher), store_(searcher.store_), query_(query), options_(options) {
    if (!options.agents) return;
    agents_ = options.agents;
    std::sort(agents_->begin(), agents_->end());
    agents_->erase(std::unique(agents_->begin(), agents_->end()), agents_->end());
  }

  Result<SearchAnswer> run() {
    embed();
    SKEIN_TRY(find_threads());
    SKEIN_TRY(load());
    for (std::size_t wanted = options_.limit + 8;; wanted *= 4) {
      const std::vector<Found> found = rank_some(wanted);
      SKEIN_TRY(show(found));
      // What is gone from the store was ranked in vain: look further.
      if (answer_.results.size() >= options_.limit || found.size() < wanted) break;
    }
    SKEIN_ASSIGN(const Pending pending, count_pending(store_, searcher_.file_, agents_));
    answer_.not_indexed = pending.count;
    answer_.not_indexed_is_exact = pending.exact;
    return std::move(answer_);
  }

 private:
  struct Found {
    ThreadId thread;
    Seq seq = 0;
    float score = 0;
    RankParts parts;
  };

  void embed() {
    if (options_.by == SearchBy::kWords) return;
    if (searcher_.embedder_ == nullptr) {
      answer_.note = "there is no model: search is by words alone";
      return;
    }
    auto vector = searcher_.embedder_->embed_one(std::string(query_), EmbedKind::kQuery);
    if (vector) {
      vector_ = std::move(*vector);
    } else {
      answer_.note = "search is by words alone: " + vector.error().message;
    }
  }

  // The threads that the filters leave, by what the store says now.
  Result<void> find_threads() {
    if (!options_.status && options_.metadata.empty()) return {};
    threads_.emplace();
    if (!agents_) return find_threads_of(std::nullopt);
    for (const std::string& agent : *agents_) SKEIN_TRY(find_threads_of(agent));
    return {};
  }

  Result<void> find_threads_of(std::optional<std::string> agent) {
    ListQuery query;
    query.agent_id = std::move(agent);
    query.status = options_.status;
    query.metadata = options_.metadata;
    query.limit = limits::kMaxPageSize;
    do {
      SKEIN_ASSIGN(const ThreadPage page, store_.list(query));
      for (const Manifest& manifest : page.threads) threads_->insert(manifest.id.bits());
      query.after = page.next;
    } while (!query.after.empty());
    return {};
  }

  Result<void> load() {
    SKEIN_ASSIGN(IndexReading reading, searcher_.file_.read());
    SKEIN_TRY(name_scope(reading.db()));
    SKEIN_ASSIGN(loaded_, searcher_.cache_.get(reading, agents_));
    const std::shared_lock lock(loaded_->mutex);
    const Timestamp now = options_.now.is_set() ? options_.now : searcher_.clock_.now();
    Analyzer analyzer;
    IndexVocabulary vocabulary(reading);
    SKEIN_ASSIGN(question_, make_question(query_, now, loaded_->corpus, loaded_->speakers, analyzer,
                                          vocabulary));
    for (const QueryTerm& term : question_.terms) answer_.words.push_back(term.shown);
    return {};
  }

  Result<void> name_scope(Database& db) {
    answer_.all_agents = !agents_;
    if (agents_) {
      answer_.agents = *agents_;
      answer_.agent_count = agents_->size();
      return {};
    }
    SKEIN_ASSIGN(const auto count, db.integer("SELECT count(*) FROM agents WHERE messages > 0"));
    answer_.agent_count = static_cast<std::uint64_t>(count);
    SKEIN_ASSIGN(Query query,
                 db.query("SELECT name FROM agents WHERE messages > 0 ORDER BY name LIMIT ?"));
    query.bind(limits::kMaxNamedAgents);
    for (;;) {
      SKEIN_ASSIGN(const bool row, query.step());
      if (!row) return {};
      answer_.agents.emplace_back(query.bytes(0));
    }
  }

  bool is_in_scope(const std::string& agent) const {
    return !agents_ || std::binary_search(agents_->begin(), agents_->end(), agent);
  }

  bool is_candidate(const Corpus& corpus, const std::vector<bool>& threads, Place place) const {
    if (threads_ && !threads[corpus.thread_number(place)]) return false;
    if (options_.since && corpus.time(place) < *options_.since) return false;
    if (options_.until && corpus.time(place) >= *options_.until) return false;
    return options_.roles.empty() || std::find(options_.roles.begin(), options_.roles.end(),
                                               corpus.role(place)) != options_.roles.end();
  }

  std::vector<Found> rank_some(std::size_t wanted) {
    const std::shared_lock lock(loaded_->mutex);
    const Corpus& corpus = loaded_->corpus;
    std::vector<bool> threads(threads_ ? corpus.threads() : 0);
    for (std::uint32_t i = 0; i < threads.size(); ++i) {
      threads[i] = threads_->contains(corpus.thread_of_number(i).bits());
    }
    RankRequest request{.question = question_};
    request.vector = vector_;
    request.by = options_.by == SearchBy::kWords   ? RankBy::kWithoutVectors
                 : options_.by == SearchBy::kDense ? RankBy::kVectorsAlone
                                                   : RankBy::kAll;
    request.limit = wanted;
    request.per_thread = options_.per_thread;
    if (threads_ || options_.since || options_.until || !options_.roles.empty()) {
      request.filter = [&](Place place) { return is_candidate(corpus, threads, place); };
    }
    const RankOutcome outcome = rank(corpus, request);
    answer_.used_words = outcome.used_words;
    answer_.used_vectors = outcome.used_vectors;
    answer_.searched = outcome.candidates;
    answer_.without_vector = outcome.without_vector;
    if (answer_.note.empty() && searcher_.embedder_ != nullptr && outcome.without_vector > 0 &&
        options_.by != SearchBy::kWords) {
      answer_.note = fmt::format("{} of {} messages have no vector yet: skein backfill",
                                 outcome.without_vector, outcome.candidates);
    }
    std::vector<Found> found;
    for (const Ranked& ranked : outcome.best) {
      found.push_back(
          {corpus.thread(ranked.place), corpus.seq(ranked.place), ranked.score, ranked.parts});
    }
    return found;
  }

  Result<void> show(const std::vector<Found>& found) {
    answer_.results.clear();
    for (const Found& one : found) {
      if (answer_.results.size() >= options_.limit) break;
      SKEIN_ASSIGN(const Manifest* manifest, manifest_of(one.thread));
      if (manifest == nullptr) continue;
      SearchResult result;
      result.thread = one.thread;
      result.agent_id = manifest->agent_id;
      result.title = manifest->title.value_or("");
      result.seq = one.seq;
      result.score = one.score;
      result.reasons = reasons_of(one.parts);
      SKEIN_ASSIGN(const bool is_there, read_around(result));
      if (is_there) answer_.results.push_back(std::move(result));
    }
    return {};
  }

  // Null: there is no such thread any more, or it is of an agent outside the scope.
  Result<const Manifest*> manifest_of(ThreadId thread) {
    const auto known = manifests_.find(thread.bits());
    if (known == manifests_.end()) {
      auto manifest = store_.get(thread);
      const bool damaged = !manifest && manifest.error().code == ErrorCode::kDamaged;
      if (!manifest && !damaged) return tl::unexpected(std::move(manifest).error());
      std::optional<Manifest> there;
      if (manifest && *manifest && is_in_scope((**manifest).agent_id)) {
        there = std::move(**manifest);
      }
      manifests_.emplace(thread.bits(), std::move(there));
      return manifest_of(thread);
    }
    return known->second ? &*known->second : nullptr;
  }

  // False: the message is not on the thread's path any more.
  Result<bool> read_around(SearchResult& result) {
    bool is_there = false;
    std::vector<SearchMessage> before;
    // Between two messages there may be many events, but hardly so many.
    const std::uint64_t most = 200 * (options_.context + 1);
    const auto collect = [&](Event& event, std::vector<SearchMessage>& to) {
      const Message* message = recalled_message(event);
      if (message == nullptr) return;
      to.push_back({event.seq, message->role, message->text, event.timestamp, speaker_of(event),
                    event.seq == result.seq});
    };
    auto read = store_.read(
        result.thread,
        {.from = result.seq, .limit = most, .direction = Direction::kBackward, .view = View::kPath},
        [&](Event& event) {
          if (event.seq == result.seq) {
            is_there = recalled_message(event) != nullptr;
            result.timestamp = event.timestamp;
          }
          if (!is_there) return false;
          collect(event, before);
          return before.size() <= options_.context;
        });
    if (!read && read.error().code != ErrorCode::kDamaged) return tl::unexpected(read.error());
    if (!is_there) return false;
    result.messages.assign(std::make_move_iterator(before.rbegin()),
                           std::make_move_iterator(before.rend()));
    const std::size_t enough = result.messages.size() + options_.context;
    if (options_.context == 0) return true;
    read = store_.read(result.thread, {.from = result.seq + 1, .limit = most, .view = View::kPath},
                       [&](Event& event) {
                         collect(event, result.messages);
                         return result.messages.size() < enough;
                       });
    if (!read && read.error().code != ErrorCode::kDamaged) return tl::unexpected(read.error());
    return true;
  }

  Searcher& searcher_;
  Store& store_;
  const std::string_view query_;
  const SearchOptions& options_;
  AgentNames agents_;
  SearchAnswer answer_;
  Vector vector_;
  std::optional<std::unordered_set<std::uint64_t>> threads_;
  std::shared_ptr<LoadedCorpus> loaded_;
  Question question_;
  std::unordered_map<std::uint64_t, std::optional<Manifest>> manifests_;
};

Result<SearchAnswer> Searcher::search(std::string_view query, const SearchOptions& options) {
  SKEIN_TRY(check_search(query, options));
  return Search(*this, query, options).run();
}

}  // namespace skein
