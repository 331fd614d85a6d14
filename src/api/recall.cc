#include "api/recall.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <unordered_set>

#include "core/checksum.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/own_folder.h"
#include "core/quotation.h"
#include "core/try.h"
#include "recall/text/analyzer.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSqlite = "sqlite:";
constexpr std::string_view kJsonl = "jsonl:";

std::string number(double value) {
  std::string text;
  append_json_number(text, std::round(value * 10'000) / 10'000);
  return text;
}

std::string reasons_json(const SearchReasons& reasons) {
  JsonObject object;
  object.add_json("words", number(reasons.words)).add_json("meaning", number(reasons.meaning));
  object.add_json("surroundings", number(reasons.surroundings));
  object.add_json("length", number(reasons.length)).add_json("speaker", number(reasons.speaker));
  object.add_json("date", number(reasons.date)).add_json("recency", number(reasons.recency));
  return object.str();
}

std::string message_json(const SearchMessage& message) {
  JsonObject object;
  object.add("seq", message.seq).add("role", to_string(message.role)).add("text", message.text);
  object.add("timestamp", message.timestamp.str());
  if (!message.speaker.empty()) object.add("name", message.speaker);
  object.add("match", message.match);
  return object.str();
}

std::string result_json(const SearchResult& result) {
  std::vector<std::string> messages;
  for (const SearchMessage& message : result.messages) messages.push_back(message_json(message));
  JsonObject object;
  object.add("threadId", result.thread.str()).add("threadTitle", result.title);
  object.add("agentId", result.agent_id).add("seq", result.seq);
  object.add("timestamp", result.timestamp.str()).add_json("score", number(result.score));
  object.add_json("why", reasons_json(result.reasons));
  object.add_json("messages", fmt::format("[{}]", fmt::join(messages, ",")));
  return object.str();
}

bool is_there(std::string_view embedder) {
  if (embedder == "none") return false;
  if (embedder == "auto") return is_there("bge-small") || is_there("minilm");
  if (embedder.starts_with("openai:")) return true;
  return open_embedder(embedder).has_value();
}

}  // namespace

std::string index_path_of(const Settings& settings) {
  const std::string& url = settings.store_url;
  if (url.starts_with(kSqlite)) return url.substr(kSqlite.size()) + ".recall";
  if (url.starts_with(kJsonl)) {
    return (fs::path(url.substr(kJsonl.size())) / ".skein" / "recall.db").string();
  }
  if (url.starts_with("memory:")) return {};
  return (settings.workspace / ".skein" / fmt::format("recall-{:08x}.db", checksum(url))).string();
}

Result<OpenedRecall> open_recall(const Settings& settings, Store& store) {
  OpenedRecall opened;
  SKEIN_ASSIGN(OpenedEmbedder embedder, open_embedder(settings.embedder));
  opened.embedder = std::move(embedder.embedder);
  opened.notes = std::move(embedder.notes);
  RecallOptions options;
  options.index_path = index_path_of(settings);
  options.embedder = opened.embedder.get();
  if (settings.store_url.starts_with(kJsonl)) {
    options.vectors_folder = settings.store_url.substr(kJsonl.size());
  }
  if (!options.index_path.empty()) {
    Flusher unflushed(false);  // the index can be made again
    SKEIN_TRY(make_store_folder(parent_folder(options.index_path), unflushed));
  }
  SKEIN_ASSIGN(opened.recall, Recall::open(store, std::move(options)));
  return opened;
}

Result<void> forget_in_index(const Settings& settings, Store& store,
                             const std::vector<ThreadId>& threads) {
  if (threads.empty()) return {};
  RecallOptions options;
  options.index_path = index_path_of(settings);
  std::error_code error;
  if (!fs::exists(options.index_path, error)) options.index_path.clear();
  if (settings.store_url.starts_with(kJsonl)) {
    options.vectors_folder = settings.store_url.substr(kJsonl.size());
  }
  if (options.index_path.empty() && options.vectors_folder.empty()) return {};
  SKEIN_ASSIGN(const auto recall, Recall::open(store, std::move(options)));
  return recall->forget_threads(threads);
}

std::vector<TextSpan> find_words(std::string_view text, const std::vector<std::string>& words) {
  Stemmer stemmer;
  WordSplitter splitter;
  std::unordered_set<std::string> stems;
  for (const std::string& word : words) stems.emplace(stemmer.stem(word, Language::kEnglish));
  std::vector<TextSpan> spans;
  for (const Word& word : splitter.split(text)) {
    if (!stems.contains(std::string(stemmer.stem(word.text, Language::kEnglish)))) continue;
    // A pair of characters may overlap with the one before it.
    const std::size_t end = spans.empty() ? 0 : spans.back().offset + spans.back().bytes;
    if (word.offset < end) {
      spans.back().bytes =
          std::max(end, std::size_t{word.offset} + word.bytes) - spans.back().offset;
    } else {
      spans.push_back({word.offset, word.bytes});
    }
  }
  return spans;
}

std::string to_json(const SearchAnswer& answer) {
  std::vector<std::string> results;
  for (const SearchResult& result : answer.results) results.push_back(result_json(result));
  std::vector<std::string> used;
  if (answer.used_words) used.emplace_back("words");
  if (answer.used_vectors) used.emplace_back("vectors");
  JsonObject object;
  object.add_json("results", fmt::format("[{}]", fmt::join(results, ",\n ")));
  object.add("used", used).add("searched", answer.searched);
  object.add("allAgents", answer.all_agents).add("agents", answer.agents);
  object.add("agentCount", answer.agent_count);
  object.add("withoutVector", answer.without_vector).add("notIndexed", answer.not_indexed);
  object.add("notIndexedExact", answer.not_indexed_is_exact);
  if (!answer.note.empty()) object.add("note", answer.note);
  return object.str();
}

std::string scope_text(const SearchAnswer& answer) {
  constexpr std::size_t kShown = 5;
  std::string names;
  for (std::size_t i = 0; i < std::min(kShown, answer.agents.size()); ++i) {
    names += (i > 0 ? ", " : "") + answer.agents[i];
  }
  if (answer.agent_count > kShown)
    names += fmt::format(" and {} more", answer.agent_count - kShown);
  const std::string messages =
      fmt::format("{} message{}", answer.searched, answer.searched == 1 ? "" : "s");
  if (!answer.all_agents) {
    return fmt::format("{} of {} {}", messages, answer.agent_count == 1 ? "agent" : "agents",
                       names);
  }
  return messages + " of all agents" + (names.empty() ? "" : " (" + names + ")");
}

std::string to_json(const BackfillResult& result) {
  JsonObject object;
  object.add("embedded", result.embedded).add("cleaned", result.cleaned);
  if (result.stopped) object.add("stopped", true);
  return object.str();
}

std::string quoted_for_model(const SearchAnswer& answer) {
  if (answer.results.empty()) return "Nothing was found in earlier conversations.\n";
  std::string out = "Found in earlier conversations. ";
  out += kQuotationWarning;
  for (const SearchResult& result : answer.results) {
    out += fmt::format("\nThread {}, message {}, {}:\n", result.thread.str(), result.seq,
                       result.timestamp.str());
    if (!result.title.empty()) out += as_quotation("title: " + result.title);
    for (const SearchMessage& message : result.messages) {
      std::string who = to_string(message.role);
      if (!message.speaker.empty()) who += " " + quoted_name(message.speaker);
      out += as_quotation(fmt::format("{}{} ({}): {}", message.match ? "* " : "", who,
                                      message.timestamp.str(), message.text));
    }
  }
  if (answer.not_indexed > 0) {
    out += fmt::format("\n{} newer messages are not searched yet.\n", answer.not_indexed);
  }
  return out;
}

LazyRecall::LazyRecall(Settings settings, Store& store)
    : settings_(std::move(settings)), store_(store), has_model_(is_there(settings_.embedder)) {}

Result<Recall*> LazyRecall::get() {
  const std::lock_guard lock(mutex_);
  if (!opened_) {
    SKEIN_ASSIGN(opened_, open_recall(settings_, store_));
  }
  return opened_->recall.get();
}

Result<void> LazyRecall::forget(const std::vector<ThreadId>& threads) {
  const std::lock_guard lock(mutex_);
  if (opened_) return opened_->recall->forget_threads(threads);
  return forget_in_index(settings_, store_, threads);
}

bool LazyRecall::has_index() const {
  const std::string path = index_path_of(settings_);
  std::error_code error;
  return !path.empty() && fs::exists(path, error);
}

RecallFunction recall_function(LazyRecall& recall) {
  return [&recall](const RecallAsked& asked, const std::stop_token&) -> Result<std::string> {
    SKEIN_ASSIGN(Recall* const opened, recall.get());
    SearchOptions options;
    options.agents = std::vector{asked.agent_id};
    options.limit = asked.limit;
    SKEIN_ASSIGN(const SearchAnswer answer, opened->search(asked.query, options));
    return quoted_for_model(answer);
  };
}

Result<void> IndexEffect::apply(const FinishedRun& run, std::stop_token stop) {
  SKEIN_ASSIGN(Recall* const opened, recall_.get());
  SKEIN_TRY(opened->index_thread(run.run.thread, std::move(stop)));
  return {};
}

}  // namespace skein
