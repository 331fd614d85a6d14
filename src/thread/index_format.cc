#include "thread/index_format.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "core/json_object.h"

namespace skein {
namespace {

constexpr std::uint64_t kFormat = 1;

template <class T, class Append>
std::string array_of(const std::vector<T>& items, Append append) {
  std::string text = "[";
  for (const T& item : items) {
    if (text.size() > 1) text += ',';
    append(text, item);
  }
  return text + ']';
}

void append_pair(std::string& text, std::uint64_t a, std::uint64_t b) {
  text += '[' + std::to_string(a) + ',' + std::to_string(b) + ']';
}

std::string array_of_seqs(const std::vector<Seq>& seqs) {
  return array_of(seqs, [](std::string& text, Seq seq) { append_json_number(text, seq); });
}

// Numbers out of the stored text. Whatever is not as expected makes `ok` false, and reads as 0.
struct Parser {
  bool ok = true;

  std::uint64_t number(const boost::json::value& value) {
    if (value.is_int64() && value.get_int64() >= 0) {
      return static_cast<std::uint64_t>(value.get_int64());
    }
    if (value.is_uint64()) return value.get_uint64();
    ok = false;
    return 0;
  }
  std::uint64_t number(const boost::json::object& object, std::string_view name) {
    const boost::json::value* value = object.if_contains(name);
    return value == nullptr ? number(boost::json::value()) : number(*value);
  }
  const boost::json::array& array(const boost::json::value* value) {
    static const boost::json::array none;
    if (value != nullptr && value->is_array()) return value->get_array();
    ok = false;
    return none;
  }
  std::uint64_t at(const boost::json::array& array, std::size_t i) {
    return number(i < array.size() ? array[i] : boost::json::value());
  }
  std::vector<Seq> seqs(const boost::json::object& object, std::string_view name) {
    std::vector<Seq> all;
    for (const boost::json::value& value : array(object.if_contains(name))) {
      all.push_back(number(value));
    }
    return all;
  }
  // Calls `take` with every array in the array.
  template <class Take>
  void rows(const boost::json::value* value, Take take) {
    for (const boost::json::value& row : array(value)) take(array(&row));
  }
};

// --- Whether the numbers can be those of a thread with so many events. All that works with an
// index relies on it: positions are there and rise, and what is covered lies before its summary.

bool rise(const std::vector<Seq>& seqs, Seq last) {
  Seq before = 0;
  for (const Seq seq : seqs) {
    if (seq <= before || seq > last) return false;
    before = seq;
  }
  return true;
}

template <class Mark>
bool marks_rise(const std::vector<Mark>& marks, Seq last) {
  std::vector<Seq> seqs;
  for (const Mark& mark : marks) seqs.push_back(mark.seq);
  return rise(seqs, last);
}

bool covers_earlier(const SummaryMark& mark) {
  Seq before = 0;
  for (const SeqRange& range : mark.covers) {
    if (range.first <= before || range.last < range.first) return false;
    before = range.last;
  }
  return before > 0 && before < mark.seq;
}

bool chunks_fit(const IndexHead& head) {
  if (head.events > kMaxStoredSeq) return false;
  if (head.chunks.size() != (head.events + kChunkEvents - 1) / kChunkEvents) return false;
  for (std::size_t n = 0; n < head.chunks.size(); ++n) {
    const Seq user = head.chunks[n].newest_user;
    const Seq first = n * kChunkEvents + 1;
    if (user != 0 && (user < first || user >= first + kChunkEvents || user > head.events)) {
      return false;
    }
  }
  return true;
}

bool is_sound(const IndexHead& head) {
  const auto goes_back = [](const Branch& branch) { return branch.base < branch.seq; };
  return chunks_fit(head) && rise(head.system, head.events) && rise(head.decisions, head.events) &&
         rise(head.unreadable, head.events) && marks_rise(head.branches, head.events) &&
         std::all_of(head.branches.begin(), head.branches.end(), goes_back) &&
         marks_rise(head.summaries, head.events) &&
         std::all_of(head.summaries.begin(), head.summaries.end(), covers_earlier) &&
         marks_rise(head.undos, head.events);
}

}  // namespace

std::string format_head(const IndexHead& head) {
  const auto add_range = [](std::string& text, const SeqRange& range) {
    append_pair(text, range.first, range.last);
  };
  JsonObject object;
  object.add("format", kFormat)
      .add("generation", head.generation)
      .add("version", head.thread_version)
      .add("cursor", head.cursor)
      .add("events", head.events)
      .add_json("branches", array_of(head.branches,
                                     [](std::string& text, const Branch& branch) {
                                       append_pair(text, branch.seq, branch.base);
                                     }))
      .add_json("system", array_of_seqs(head.system))
      .add_json("decisions", array_of_seqs(head.decisions))
      .add_json("unreadable", array_of_seqs(head.unreadable))
      .add_json("summaries", array_of(head.summaries,
                                      [&](std::string& text, const SummaryMark& mark) {
                                        text += '[' + std::to_string(mark.seq) + ',' +
                                                array_of(mark.covers, add_range) + ']';
                                      }))
      .add_json("undos", array_of(head.undos,
                                  [](std::string& text, const UndoMark& mark) {
                                    append_pair(text, mark.seq, mark.summary);
                                  }))
      .add_json("chunks", array_of(head.chunks, [](std::string& text, const ChunkTotals& totals) {
                  text += '[' + std::to_string(totals.tokens) + ',' +
                          std::to_string(totals.newest_user) + ',' +
                          (totals.estimated ? "1]" : "0]");
                }));
  return object.str();
}

std::optional<IndexHead> parse_head(std::string_view text) {
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(text, error);
  if (error || !value.is_object()) return std::nullopt;
  const boost::json::object& object = value.get_object();
  Parser parser;
  if (parser.number(object, "format") != kFormat) return std::nullopt;
  IndexHead head;
  head.generation = parser.number(object, "generation");
  head.thread_version = parser.number(object, "version");
  head.events = parser.number(object, "events");
  if (const auto* cursor = object.if_contains("cursor"); cursor != nullptr && cursor->is_string()) {
    head.cursor = std::string(cursor->get_string());
  }
  head.system = parser.seqs(object, "system");
  head.decisions = parser.seqs(object, "decisions");
  head.unreadable = parser.seqs(object, "unreadable");
  using Row = boost::json::array;
  parser.rows(object.if_contains("branches"), [&](const Row& row) {
    head.branches.push_back({parser.at(row, 0), parser.at(row, 1)});
  });
  parser.rows(object.if_contains("summaries"), [&](const Row& row) {
    SummaryMark mark{parser.at(row, 0), {}};
    parser.rows(row.size() > 1 ? &row[1] : nullptr, [&](const Row& range) {
      mark.covers.push_back({parser.at(range, 0), parser.at(range, 1)});
    });
    head.summaries.push_back(std::move(mark));
  });
  parser.rows(object.if_contains("undos"), [&](const Row& row) {
    head.undos.push_back({parser.at(row, 0), parser.at(row, 1)});
  });
  parser.rows(object.if_contains("chunks"), [&](const Row& row) {
    head.chunks.push_back({parser.at(row, 0), parser.at(row, 1), parser.at(row, 2) != 0});
  });
  return parser.ok && is_sound(head) ? std::optional(std::move(head)) : std::nullopt;
}

std::string format_chunk(std::span<const IndexedEvent> events) {
  std::string text;
  for (const IndexedEvent& event : events) {
    text += static_cast<char>(event.kind);
    if (event.estimated) text += '~';
    append_json_number(text, std::uint64_t{event.tokens});
  }
  return text;
}

std::optional<std::vector<IndexedEvent>> parse_chunk(std::string_view text) {
  constexpr std::string_view kKinds = "uastcnrmox";
  std::vector<IndexedEvent> events;
  events.reserve(kChunkEvents);
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    if (kKinds.find(*at) == std::string_view::npos) return std::nullopt;
    IndexedEvent event{static_cast<EventKind>(*at), false, 0};
    ++at;
    if (at < end && *at == '~') {
      event.estimated = true;
      ++at;
    }
    const auto parsed = std::from_chars(at, end, event.tokens);
    if (parsed.ec != std::errc()) return std::nullopt;
    at = parsed.ptr;
    events.push_back(event);
  }
  return events;
}

}  // namespace skein
