#include "recall/index/message_writer.h"

#include <utility>

#include "core/checksum.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "core/try.h"

namespace skein {
namespace {

bool turns_back(const Event& event) { return event.base && *event.base + 1 != event.seq; }

std::uint32_t fingerprint(const Message& message) {
  return checksum(message.text, static_cast<std::uint64_t>(message.role));
}

}  // namespace

const Message* recalled_message(const Event& event) {
  const auto* message = std::get_if<Message>(&event.payload);
  if (message == nullptr) return nullptr;
  return message->role == Role::kUser || message->role == Role::kAssistant ? message : nullptr;
}

std::string speaker_of(const Event& event) {
  constexpr std::size_t kMaxNameBytes = 200;
  if (event.metadata.empty()) return {};
  JsonFields fields(event.metadata.text());
  auto name = fields.take_string("name");
  if (!name) name = fields.take_string("speaker");
  return std::string(beginning(name.value_or(""), kMaxNameBytes));
}

Result<void> MessageWriter::index(ThreadRow row) {
  SKEIN_ASSIGN(usual_, usual_language(row.thread));
  const std::uint64_t before = counts_.added;
  const bool fork_begins = row.parent && row.covered < row.parent->seq;
  bool whole = row.state == ThreadState::kAnew || fork_begins;
  if (!whole) {
    SKEIN_ASSIGN(const bool straight, append_tail(row));
    whole = !straight;
  }
  if (whole) SKEIN_TRY(compare(row));
  const std::uint64_t added = counts_.added - before;
  if (added > 0) {
    SKEIN_TRY(count_messages(writing_.db(), row.agent, static_cast<std::int64_t>(added)));
  }
  return put_thread_row(writing_.db(), row);
}

// A thread that is damaged keeps what the index has of it, and holds up no other.
Result<bool> MessageWriter::pass_over(ThreadRow& row, const Error& error) {
  if (error.code != ErrorCode::kDamaged) return tl::unexpected(error);
  row.covered = row.target;
  row.state = ThreadState::kFollowed;
  return true;
}

Result<bool> MessageWriter::append_tail(ThreadRow& row) {
  Result<void> added;
  bool straight = true;
  const ReadRange range{.from = row.covered + 1};
  const auto read = store_.read(row.thread, range, [&](Event& event) {
    straight = !turns_back(event);
    if (!straight) return false;
    ++events_;
    ++counts_.events;
    row.covered = event.seq;
    if (const Message* message = recalled_message(event)) added = add(row, event, *message);
    return added.has_value() && !is_full();
  });
  SKEIN_TRY(std::move(added));
  if (!read) return pass_over(row, read.error());
  if (!straight) return false;
  // What should be there and is not was removed meanwhile; the feed will tell.
  if (!is_full()) row.covered = std::max(row.covered, row.target);
  row.target = std::max(row.covered, row.target);
  return true;
}

// Messages that are on the path and not in the index are added, the others removed.
Result<void> MessageWriter::compare(ThreadRow& row) {
  SKEIN_ASSIGN(const auto shared, shared_with_parent(row));
  std::unordered_map<Seq, std::int64_t> known;
  {
    SKEIN_ASSIGN(Query query,
                 writing_.db().query("SELECT seq, message FROM messages WHERE thread = ?"));
    query.bind(row.thread.bits());
    for (;;) {
      SKEIN_ASSIGN(const bool found, query.step());
      if (!found) break;
      known.emplace(static_cast<Seq>(query.integer(0)), query.integer(1));
    }
  }
  Result<void> added;
  Seq last = 0;
  const auto read = store_.read(row.thread, {.view = View::kPath}, [&](Event& event) {
    last = event.seq;
    ++events_;
    ++counts_.events;
    const Message* message = recalled_message(event);
    if (message == nullptr) return true;
    const auto in_parent = shared.find(event.seq);
    if (in_parent != shared.end() && in_parent->second == fingerprint(*message)) return true;
    if (known.erase(event.seq) == 0) added = add(row, event, *message);
    return added.has_value();
  });
  SKEIN_TRY(std::move(added));
  if (!read) {
    SKEIN_TRY(pass_over(row, read.error()));
    return {};
  }
  for (const auto& [seq, message] : known) SKEIN_TRY(remove_message(writing_, row, message));
  counts_.removed += known.size();
  SKEIN_TRY(count_messages(writing_.db(), row.agent, -static_cast<std::int64_t>(known.size())));
  row.covered = row.target = std::max(last, row.target);
  row.state = ThreadState::kFollowed;
  return mark_forks(writing_.db(), row.thread);
}

// What the parent has on its path, in the same words, is found there.
Result<std::unordered_map<Seq, std::uint32_t>> MessageWriter::shared_with_parent(
    const ThreadRow& row) {
  std::unordered_map<Seq, std::uint32_t> shared;
  if (!row.parent || row.parent->thread == row.thread) return shared;
  SKEIN_ASSIGN(const auto parent, find_thread_row(writing_.db(), row.parent->thread));
  if (!parent || parent->state == ThreadState::kGone || parent->agent != row.agent) return shared;
  const auto read = store_.read(row.parent->thread, {.view = View::kPath}, [&](Event& event) {
    if (event.seq > row.parent->seq) return false;
    if (const Message* message = recalled_message(event)) {
      shared.emplace(event.seq, fingerprint(*message));
    }
    return true;
  });
  // A damaged parent holds up none of its forks: they are found by themselves.
  if (!read && read.error().code != ErrorCode::kDamaged) return tl::unexpected(read.error());
  return shared;
}

Result<void> MessageWriter::add(const ThreadRow& row, const Event& event, const Message& message) {
  Database& db = writing_.db();
  occurrences_.clear();
  Result<void> named;
  const Analysed analysed = analyzer_.analyse(message.text, usual_, [&](std::string_view term) {
    const auto number = names_.term(db, term);
    if (number) {
      occurrences_.push_back(static_cast<TermId>(*number));
    } else {
      named = tl::unexpected(number.error());
    }
  });
  SKEIN_TRY(std::move(named));
  usual_ = analysed.language;
  std::int64_t speaker = 0;
  if (const std::string name = speaker_of(event); !name.empty()) {
    SKEIN_ASSIGN(speaker, names_.speaker(db, name));
  }
  const std::int64_t flags = (message.role == Role::kAssistant ? kAssistantFlag : 0) |
                             (analysed.asks ? kAsksFlag : 0) |
                             static_cast<std::int64_t>(analysed.language) << kLanguageShift;
  const std::string terms = pack_terms(occurrences_);
  // An index that was tampered with may have it already.
  SKEIN_ASSIGN(Query query,
               db.query("INSERT OR REPLACE INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  query.bind(writing_.new_message(), row.agent, row.thread.bits(), event.seq, event.timestamp.us,
             analysed.words, flags, speaker);
  query.bind_blob(9, terms);
  SKEIN_TRY(query.run());
  ++counts_.added;
  bytes_ += message.text.size();
  return {};
}

Result<Language> MessageWriter::usual_language(ThreadId thread) {
  SKEIN_ASSIGN(Query query, writing_.db().query("SELECT flags FROM messages WHERE thread = ? "
                                                "ORDER BY seq DESC LIMIT 1"));
  query.bind(thread.bits());
  SKEIN_ASSIGN(const bool row, query.step());
  return row ? static_cast<Language>(query.integer(0) >> kLanguageShift) : Language::kEnglish;
}

}  // namespace skein
