#include "recall/index/vector_filler.h"

#include <map>

#include "core/text.h"
#include "core/try.h"
#include "recall/index/message_writer.h"
#include "recall/index/names.h"
#include "recall/index/thread_rows.h"
#include "recall/vectors.h"
#include "skein/recall.h"

namespace skein {
namespace {

// A fraction of a second: words of what came meanwhile, and a stop, wait for no more.
constexpr std::size_t kBatch = 16;

// Those without a vector of the model, after ?1; ?2 is the model, ?3 the agent.
constexpr const char* kOfAgent =
    "SELECT m.message, m.agent, m.thread, m.seq, m.flags, m.time, "
    "(SELECT messages FROM agents WHERE agent = m.agent) "
    "FROM messages m LEFT JOIN vectors v ON v.message = m.message "
    "WHERE m.message > ?1 AND v.model IS NOT ?2 AND m.agent = ?3 ORDER BY m.message LIMIT ?4";
constexpr const char* kOfAll =
    "SELECT m.message, m.agent, m.thread, m.seq, m.flags, m.time, "
    "(SELECT messages FROM agents WHERE agent = m.agent) "
    "FROM messages m LEFT JOIN vectors v ON v.message = m.message "
    "WHERE m.message > ?1 AND v.model IS NOT ?2 AND ?3 = 0 ORDER BY m.message LIMIT ?4";

// The newest of the thread ?1.
constexpr const char* kOfThread =
    "SELECT m.message, m.agent, m.thread, m.seq, m.flags, m.time, "
    "(SELECT messages FROM agents WHERE agent = m.agent) "
    "FROM messages m LEFT JOIN vectors v ON v.message = m.message "
    "WHERE m.thread = ?1 AND v.model IS NOT ?2 ORDER BY m.seq DESC LIMIT ?3";

Result<std::int64_t> agent_number(Database& db, const std::optional<std::string>& agent) {
  if (!agent) return 0;
  SKEIN_ASSIGN(const auto number, find_name(db, kAgentNames, *agent));
  return number.value_or(-1);
}

Result<std::int64_t> model_number(Database& db, const std::string& model) {
  SKEIN_ASSIGN(const auto number, find_name(db, kModelNames, model));
  return number.value_or(0);
}

Result<std::int64_t> make_model_number(Database& db, const std::string& model) {
  SKEIN_ASSIGN(const auto number, model_number(db, model));
  if (number != 0) return number;
  SKEIN_ASSIGN(Query query, db.query(kModelNames.add));
  query.bind(std::string_view(model));
  SKEIN_TRY(query.step());
  const std::int64_t made = query.integer(0);
  SKEIN_TRY(query.run());
  return made;
}

// By agent. What was removed since the files were written is still in them.
Result<void> set_file_bytes(Database& db, const std::map<std::int64_t, std::int64_t>& lengths,
                            std::int64_t removals) {
  SKEIN_ASSIGN(const auto now, index_number(db, kRemovals));
  for (const auto& [agent, length] : lengths) {
    SKEIN_ASSIGN(Query query, db.query("UPDATE agents SET file_bytes = ? WHERE agent = ?"));
    SKEIN_TRY(query.bind(now == removals ? length : std::int64_t{-1}, agent).run());
  }
  return {};
}

}  // namespace

std::string paired_text(std::string_view before, std::string_view text) {
  if (before.empty()) return std::string(text);
  return std::string(before).append("\n").append(text);
}

Result<std::uint64_t> VectorFiller::missing(const std::optional<std::string>& agent) {
  SKEIN_ASSIGN(IndexReading reading, file_.read());
  Database& db = reading.db();
  SKEIN_ASSIGN(const auto number, agent_number(db, agent));
  SKEIN_ASSIGN(const auto model, model_number(db, embedder_.model()));
  SKEIN_ASSIGN(Query query,
               db.query(agent ? "SELECT count(*) FROM messages m LEFT JOIN vectors v ON v.message "
                                "= m.message WHERE v.model IS NOT ?1 AND m.agent = ?2"
                              : "SELECT count(*) FROM messages m LEFT JOIN vectors v ON v.message "
                                "= m.message WHERE v.model IS NOT ?1"));
  if (agent) {
    query.bind(model, number);
  } else {
    query.bind(model);
  }
  SKEIN_ASSIGN(const bool row, query.step());
  return row ? static_cast<std::uint64_t>(query.integer(0)) : 0;
}

Result<std::optional<std::uint64_t>> VectorFiller::fill_some(
    const std::optional<std::string>& agent, std::int64_t& after) {
  SKEIN_ASSIGN(const auto turn, file_.embedding_turn());
  SKEIN_ASSIGN(std::vector<Item> items, next_items(agent, after));
  if (items.empty()) return std::nullopt;
  SKEIN_ASSIGN(const std::uint64_t kept, fill(std::move(items)));
  return kept;
}

Result<std::uint64_t> VectorFiller::fill_thread(ThreadId thread) {
  SKEIN_ASSIGN(const auto turn, file_.embedding_turn());
  std::vector<Item> items;
  {
    SKEIN_ASSIGN(IndexReading reading, file_.read());
    SKEIN_ASSIGN(const auto model, model_number(reading.db(), embedder_.model()));
    SKEIN_ASSIGN(Query query, reading.db().query(kOfThread));
    query.bind(thread.bits(), model, kBatch);
    SKEIN_ASSIGN(items, take_items(query));
  }
  return items.empty() ? Result<std::uint64_t>(0) : fill(std::move(items));
}

Result<std::uint64_t> VectorFiller::fill(std::vector<Item> items) {
  for (Item& item : items) SKEIN_TRY(read_text(item));
  // What the store no longer has is about to leave the index as well.
  std::erase_if(items, [](const Item& item) { return item.entry.seq == 0; });
  if (items.empty()) return 0;
  SKEIN_TRY(embed(items));
  return keep(items);
}

Result<std::vector<VectorFiller::Item>> VectorFiller::next_items(
    const std::optional<std::string>& agent, std::int64_t& after) {
  SKEIN_ASSIGN(IndexReading reading, file_.read());
  Database& db = reading.db();
  SKEIN_ASSIGN(const auto number, agent_number(db, agent));
  SKEIN_ASSIGN(const auto model, model_number(db, embedder_.model()));
  SKEIN_ASSIGN(Query query, db.query(agent ? kOfAgent : kOfAll));
  query.bind(after, model, number, kBatch);
  SKEIN_ASSIGN(std::vector<Item> items, take_items(query));
  if (!items.empty()) after = items.back().message;
  return items;
}

Result<std::vector<VectorFiller::Item>> VectorFiller::take_items(Query& query) {
  std::vector<Item> items;
  for (;;) {
    SKEIN_ASSIGN(const bool row, query.step());
    if (!row) return items;
    Item& item = items.emplace_back();
    item.message = query.integer(0);
    item.agent = query.integer(1);
    item.thread = ThreadId::from_bits(static_cast<std::uint64_t>(query.integer(2)));
    item.seq = static_cast<Seq>(query.integer(3));
    item.entry.role = (query.integer(4) & kAssistantFlag) != 0 ? Role::kAssistant : Role::kUser;
    item.entry.time = Timestamp{query.integer(5)};
    item.pair = query.integer(6) <= static_cast<std::int64_t>(limits::kMaxPairedMessages);
  }
}

Result<void> VectorFiller::read_text(Item& item) {
  // Of long messages a model sees the beginning only; a few thousand bytes are more than that.
  constexpr std::size_t kMaxTextBytes = 8192;
  const ReadRange range{.from = item.seq, .direction = Direction::kBackward, .view = View::kPath};
  auto read = store_.read(item.thread, range, [&](Event& event) {
    if (item.entry.seq == 0 && event.seq != item.seq) return false;
    const Message* message = recalled_message(event);
    if (message == nullptr) return true;
    if (event.seq != item.seq) {
      item.before = beginning(message->text, kMaxTextBytes);
      return false;
    }
    item.entry.seq = item.seq;
    item.entry.thread = item.thread;
    item.text = beginning(message->text, kMaxTextBytes);
    return item.pair;
  });
  if (!read && read.error().code == ErrorCode::kDamaged) return {};
  return read;
}

Result<void> VectorFiller::embed(std::vector<Item>& items) {
  std::vector<std::string> texts;
  for (const Item& item : items) {
    texts.push_back(item.text);
    if (item.pair && !item.before.empty()) texts.push_back(paired_text(item.before, item.text));
  }
  SKEIN_ASSIGN(const std::vector<Vector> vectors, embedder_.embed(texts, EmbedKind::kPassage));
  if (vectors.size() != texts.size()) return fail(ErrorCode::kIo, "the model answered too little");
  auto next = vectors.begin();
  for (Item& item : items) {
    item.first = vector_bytes(quantize(*next++));
    if (!item.pair) continue;
    item.second = item.before.empty() ? item.first : vector_bytes(quantize(*next++));
  }
  return {};
}

Result<std::uint64_t> VectorFiller::keep(std::vector<Item>& items) {
  // The file first: if this ends in between, its length is not what the index says.
  std::map<std::int64_t, std::int64_t> lengths;
  std::int64_t removals = 0;
  if (files_.wanted()) {
    std::map<std::int64_t, std::vector<VectorEntry*>> entries;
    for (Item& item : items) {
      item.entry.vector = item.first;
      entries[item.agent].push_back(&item.entry);
    }
    SKEIN_ASSIGN(IndexReading reading, file_.read());
    SKEIN_ASSIGN(removals, index_number(reading.db(), kRemovals));
    for (const auto& [agent, of_agent] : entries) {
      SKEIN_ASSIGN(lengths[agent], files_.append(reading, agent, of_agent, embedder_.model()));
    }
  }
  SKEIN_ASSIGN(IndexWriting writing, file_.write());
  Database& db = writing.db();
  SKEIN_ASSIGN(const auto model, make_model_number(db, embedder_.model()));
  SKEIN_TRY(set_file_bytes(db, lengths, removals));
  std::uint64_t kept = 0;
  for (const Item& item : items) {
    SKEIN_ASSIGN(Query query,
                 db.query("INSERT OR REPLACE INTO vectors SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS "
                          "(SELECT 1 FROM messages WHERE message = ?1) AND NOT EXISTS "
                          "(SELECT 1 FROM vectors WHERE message = ?1 AND model = ?2)"));
    query.bind(item.message, model, writing.generation(), std::nullopt, std::nullopt);
    query.bind_blob(4, item.first);
    if (!item.second.empty()) query.bind_blob(5, item.second);
    SKEIN_TRY(query.run());
    SKEIN_ASSIGN(const auto changed, db.integer("SELECT changes()"));
    if (changed > 0) {
      ++kept;
    } else {
      SKEIN_TRY(distrust_vectors_file(db, item.agent));
    }
  }
  SKEIN_TRY(writing.commit());
  return kept;
}

Result<void> VectorFiller::mend_files() {
  if (!files_.wanted()) return {};
  SKEIN_ASSIGN(const auto turn, file_.embedding_turn());
  std::map<std::int64_t, std::int64_t> lengths;
  std::int64_t removals = 0;
  std::int64_t format = 0;
  {
    SKEIN_ASSIGN(IndexReading reading, file_.read());
    SKEIN_ASSIGN(removals, index_number(reading.db(), kRemovals));
    SKEIN_ASSIGN(format, index_number(reading.db(), kVectorsFormat));
    std::vector<std::int64_t> agents;
    {
      SKEIN_ASSIGN(Query query,
                   reading.db().query("SELECT agent FROM agents WHERE file_bytes IS NOT NULL"));
      for (;;) {
        SKEIN_ASSIGN(const bool row, query.step());
        if (!row) break;
        agents.push_back(query.integer(0));
      }
    }
    for (const std::int64_t agent : agents) {
      SKEIN_ASSIGN(const auto length, files_.mend(reading, agent, embedder_.model()));
      if (length) lengths[agent] = *length;
    }
  }
  if (lengths.empty() && format == kCurrentVectorsFormat) return {};
  SKEIN_ASSIGN(IndexWriting writing, file_.write());
  SKEIN_TRY(set_file_bytes(writing.db(), lengths, removals));
  SKEIN_TRY(set_index_value(writing.db(), kVectorsFormat, kCurrentVectorsFormat));
  return writing.commit();
}

}  // namespace skein
