#include "bench/recall_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>

#include "bench/recall_data.h"
#include "core/checksum.h"
#include "core/json_object.h"
#include "core/try.h"
#include "skein/recall.h"
#include "skein/threads.h"

namespace skein::bench {
namespace {

using Sum = Quality;

void add(Sum& sum, const Quality& one) {
  sum.recall_5 += one.recall_5;
  sum.recall_10 += one.recall_10;
  sum.ndcg_10 += one.ndcg_10;
  ++sum.questions;
}

Quality mean(const Sum& sum) {
  const double by = sum.questions == 0 ? 0 : 100.0 / static_cast<double>(sum.questions);
  return {sum.recall_5 * by, sum.recall_10 * by, sum.ndcg_10 * by, sum.questions};
}

// `found` in order, `wanted` whatever is evidence.
Quality judge(const std::vector<std::string>& found, const std::set<std::string>& wanted) {
  constexpr std::size_t kFirst = 5;
  constexpr std::size_t kDepth = 10;
  Quality quality;
  double ideal = 0;
  for (std::size_t i = 0; i < std::min(kDepth, wanted.size()); ++i) {
    ideal += 1 / std::log2(static_cast<double>(i) + 2);
  }
  for (std::size_t i = 0; i < std::min(kDepth, found.size()); ++i) {
    if (!wanted.contains(found[i])) continue;
    if (i < kFirst) ++quality.recall_5;
    ++quality.recall_10;
    quality.ndcg_10 += 1 / std::log2(static_cast<double>(i) + 2);
  }
  const auto all = static_cast<double>(wanted.size());
  quality.recall_5 /= all;
  quality.recall_10 /= all;
  quality.ndcg_10 /= ideal;
  return quality;
}

struct Mode {
  const char* name;
  SearchBy by;
};

class RecallBench {
 public:
  explicit RecallBench(const RecallBenchOptions& options) : options_(options) {}

  Result<std::vector<QualityReport>> run() {
    SKEIN_ASSIGN(data_, read_recall_data(options_.data));
    SKEIN_TRY(open());
    SKEIN_TRY(fill());
    SKEIN_TRY(index());
    std::vector<Mode> modes = {{"lexical", SearchBy::kWords}};
    if (options_.embedder != nullptr) {
      modes.push_back({"dense", SearchBy::kDense});
      modes.push_back({"full", SearchBy::kAll});
    }
    std::vector<QualityReport> reports;
    for (const Mode& mode : modes) {
      say(fmt::format("asking {} questions ({})", data_.questions.size(), mode.name));
      SKEIN_ASSIGN(QualityReport report, ask(mode));
      reports.push_back(std::move(report));
    }
    return reports;
  }

 private:
  void say(const std::string& doing) const {
    if (options_.progress) options_.progress(doing);
  }

  Result<void> open() {
    const std::string url =
        options_.folder.empty() ? "memory:" : "sqlite:" + options_.folder + "/recall-bench.db";
    SKEIN_ASSIGN(store_, open_store(url));
    RecallOptions recall;
    if (!options_.folder.empty()) recall.index_path = options_.folder + "/recall-bench.index";
    recall.embedder = options_.embedder;
    SKEIN_ASSIGN(recall_, Recall::open(*store_, std::move(recall)));
    return {};
  }

  // Agent ids are plain names; conversations may be called anything.
  static std::string agent_of(const std::string& conversation) {
    return fmt::format("conv-{:08x}", checksum(conversation));
  }

  // A thread's alias is made of its names, so that a second run finds it.
  static std::string alias_of(const Utterance& said) {
    const std::string name = said.conversation + "\n" + said.session;
    return fmt::format("{:08x}-{:04x}-4{:03x}-8000-{:08x}{:04x}", checksum(name),
                       checksum(name, 1) & 0xFFFF, checksum(name, 2) & 0xFFF, checksum(name, 3),
                       checksum(name, 4) & 0xFFFF);
  }

  // Who speaks first is the user, unless the speakers are roles.
  Event event_of(const Utterance& said) {
    const bool is_role = said.speaker == "user" || said.speaker == "assistant";
    const std::string& first =
        first_speakers_.try_emplace(said.conversation, said.speaker).first->second;
    Event event;
    event.payload = Message{
        (is_role ? said.speaker == "user" : said.speaker == first) ? Role::kUser : Role::kAssistant,
        said.text};
    if (!is_role) event.metadata = Json::trusted(JsonObject().add("name", said.speaker).str());
    event.timestamp = said.time;
    return event;
  }

  Result<void> fill() {
    say(fmt::format("storing {} messages", data_.utterances.size()));
    std::size_t at = 0;
    while (at < data_.utterances.size()) {
      const Utterance& first = data_.utterances[at];
      NewThread thread;
      thread.agent_id = agent_of(first.conversation);
      thread.alias = alias_of(first);
      std::vector<std::string> ids;
      for (; at < data_.utterances.size() && data_.utterances[at].session == first.session &&
             data_.utterances[at].conversation == first.conversation;
           ++at) {
        thread.events.push_back(event_of(data_.utterances[at]));
        ids.push_back(data_.utterances[at].id);
      }
      SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(*thread.alias));
      SKEIN_ASSIGN(auto manifest, store_->get(ref));
      if (!manifest) {
        SKEIN_ASSIGN(manifest, store_->create(thread));
      }
      for (const std::string& id : ids) {
        session_of_[first.conversation][id] = manifest->id.str();
        last_time_[first.conversation] = manifest->updated_at;
      }
      ids_[manifest->id.bits()] = std::move(ids);
    }
    return {};
  }

  Result<void> index() {
    say("indexing");
    BackfillOptions options;
    std::uint64_t told = 0;
    options.progress = [&](const BackfillProgress& progress) {
      if (progress.embedding && progress.done >= told + 1000) {
        told = progress.done;
        say(fmt::format("{} of {} vectors", progress.done, progress.total));
      }
    };
    SKEIN_TRY(recall_->backfill(options));
    return {};
  }

  Result<std::vector<std::string>> search(const RecallQuestion& question, const Mode& mode,
                                          bool by_thread) {
    SearchOptions options;
    options.agents = std::vector{agent_of(question.conversation)};
    options.limit = 10;
    options.context = 0;
    options.per_thread = by_thread ? 1 : options.limit;
    options.by = mode.by;
    // Asked when the conversation is over.
    options.now = last_time_[question.conversation];
    SKEIN_ASSIGN(const SearchAnswer answer, recall_->search(question.text, options));
    std::vector<std::string> found;
    for (const SearchResult& result : answer.results) {
      const std::vector<std::string>& ids = ids_[result.thread.bits()];
      found.push_back(by_thread ? result.thread.str() : ids[result.seq - 1]);
    }
    return found;
  }

  Result<QualityReport> ask(const Mode& mode) {
    QualityReport report;
    report.mode = mode.name;
    for (const RecallQuestion& question : data_.questions) {
      std::set<std::string> threads;
      for (const std::string& id : question.evidence) {
        const auto& sessions = session_of_[question.conversation];
        if (const auto found = sessions.find(id); found != sessions.end()) {
          threads.insert(found->second);
        }
      }
      if (threads.empty()) continue;  // nothing that was said answers it
      SKEIN_ASSIGN(const auto messages, search(question, mode, false));
      SKEIN_ASSIGN(const auto by_thread, search(question, mode, true));
      const Quality message = judge(messages, question.evidence);
      const Quality thread = judge(by_thread, threads);
      add(report.categories[question.category].message, message);
      add(report.categories[question.category].thread, thread);
      if (question.apart) continue;
      add(report.all.message, message);
      add(report.all.thread, thread);
    }
    report.all = {mean(report.all.message), mean(report.all.thread)};
    for (auto& [name, quality] : report.categories) {
      quality = {mean(quality.message), mean(quality.thread)};
    }
    return report;
  }

  const RecallBenchOptions& options_;
  RecallData data_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Recall> recall_;
  std::unordered_map<std::string, std::string> first_speakers_;
  std::unordered_map<std::uint64_t, std::vector<std::string>> ids_;  // by thread, in order of seq
  std::unordered_map<std::string, std::unordered_map<std::string, std::string>> session_of_;
  std::unordered_map<std::string, Timestamp> last_time_;
};

std::string line_of(std::string_view mode, std::string_view name, const QualityBy& quality) {
  const auto figures = [](const Quality& q) {
    return fmt::format("{:5.1f} {:5.1f} {:5.1f}", q.recall_5, q.recall_10, q.ndcg_10);
  };
  return fmt::format("{:<8} {:<14} {:>9}   {}   {}\n", mode, name, quality.message.questions,
                     figures(quality.message), figures(quality.thread));
}

std::string quality_json(const Quality& quality) {
  return fmt::format("{{\"R@5\":{:.2f},\"R@10\":{:.2f},\"nDCG@10\":{:.2f}}}", quality.recall_5,
                     quality.recall_10, quality.ndcg_10);
}

}  // namespace

Result<std::vector<QualityReport>> run_recall_bench(const RecallBenchOptions& options) {
  return RecallBench(options).run();
}

std::string to_table(const std::vector<QualityReport>& reports) {
  std::string out =
      "                                   messages            threads\n"
      "mode     questions of      number    R@5  R@10  nDCG     R@5  R@10  nDCG\n";
  for (const QualityReport& report : reports) {
    for (const auto& [name, quality] : report.categories) {
      out += line_of(report.mode, name, quality);
    }
    out += line_of(report.mode, "all but apart", report.all);
  }
  return out;
}

std::string to_json(const std::vector<QualityReport>& reports) {
  JsonObject object;
  for (const QualityReport& report : reports) {
    JsonObject categories;
    for (const auto& [name, quality] : report.categories) {
      categories.add_json(name, JsonObject()
                                    .add("questions", std::uint64_t{quality.message.questions})
                                    .add_json("message", quality_json(quality.message))
                                    .add_json("thread", quality_json(quality.thread))
                                    .str());
    }
    object.add_json(report.mode, JsonObject()
                                     .add_json("message", quality_json(report.all.message))
                                     .add_json("thread", quality_json(report.all.thread))
                                     .add_json("categories", categories.str())
                                     .str());
  }
  return object.str();
}

}  // namespace skein::bench
