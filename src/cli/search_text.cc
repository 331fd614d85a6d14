#include "cli/search_text.h"

#include <fmt/format.h>

#include <cmath>

#include "api/recall.h"
#include "core/text.h"

namespace skein {
namespace {

std::string reasons_text(const SearchReasons& reasons) {
  struct Reason {
    const char* name;
    double value;
  };
  const Reason all[] = {{"words", reasons.words},         {"meaning", reasons.meaning},
                        {"around", reasons.surroundings}, {"length", reasons.length},
                        {"speaker", reasons.speaker},     {"date", reasons.date},
                        {"recency", reasons.recency}};
  std::string text;
  for (const Reason& reason : all) {
    if (std::abs(reason.value) < 0.05) continue;
    text += fmt::format("{}{} {:+.1f}", text.empty() ? "" : ", ", reason.name, reason.value);
  }
  return text;
}

std::string cut(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  return std::string(beginning(text, bytes)) + " …";
}

std::string with_words_painted(const std::string& text, const std::vector<std::string>& words,
                               const Style& style) {
  if (!style.colours) return text;
  std::string out;
  std::size_t done = 0;
  for (const TextSpan& span : find_words(text, words)) {
    out += text.substr(done, span.offset - done);
    out += style.paint(Tone::kYellow, text.substr(span.offset, span.bytes));
    done = span.offset + span.bytes;
  }
  return out + text.substr(done);
}

std::string message_text(const SearchMessage& message, const SearchAnswer& answer,
                         const Style& style) {
  constexpr std::size_t kMatchBytes = 2000;
  constexpr std::size_t kAroundBytes = 240;
  const std::string who =
      message.speaker.empty() ? to_string(message.role) : style.stored_line(message.speaker);
  std::string head = fmt::format("  {} {:>4}  {}", message.match ? ">" : " ", message.seq, who);
  std::string said = message.text;
  if (style.terminal) said = cut(said, message.match ? kMatchBytes : kAroundBytes);
  said = wrapped(style.stored(said), "          ", style.width);
  if (!message.match) {
    return style.paint(Tone::kFaint, head) + "\n" + style.paint(Tone::kFaint, said);
  }
  return style.paint(tone_of(message.role), head) + "\n" +
         with_words_painted(said, answer.words, style);
}

}  // namespace

std::string search_text(const SearchAnswer& answer, const Style& style) {
  std::string out;
  for (const SearchResult& result : answer.results) {
    if (!out.empty()) out += "\n";
    out += style.paint(Tone::kStrong, result.title.empty() ? std::string("(untitled)")
                                                           : style.stored_line(result.title));
    out += fmt::format("  {}  {}  {}\n", style.paint(Tone::kCyan, result.thread.str()),
                       result.agent_id, style.time(result.timestamp));
    out += style.paint(Tone::kFaint, fmt::format("  score {:.2f}: {}", result.score,
                                                 reasons_text(result.reasons))) +
           "\n";
    for (const SearchMessage& message : result.messages) {
      out += message_text(message, answer, style);
    }
  }
  return out;
}

std::vector<std::string> search_notes(const SearchAnswer& answer) {
  std::vector<std::string> notes;
  notes.push_back((answer.results.empty() ? "nothing found in " : "searched ") +
                  scope_text(answer));
  if (!answer.note.empty()) notes.push_back(answer.note);
  if (answer.not_indexed > 0) {
    notes.push_back(
        fmt::format("{} {} not indexed yet: skein backfill", answer.not_indexed,
                    answer.not_indexed_is_exact ? "messages are" : "events or more are"));
  }
  return notes;
}

}  // namespace skein
