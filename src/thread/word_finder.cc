#include "thread/word_finder.h"

#include <algorithm>
#include <cmath>

#include "core/try.h"
#include "thread/extract/terms.h"
#include "thread/path.h"

namespace skein {
namespace {

constexpr std::uint64_t kMostMessages = 400;
constexpr std::size_t kMostBytes = 4096;  // of each message

struct Document {
  Seq seq = 0;
  std::vector<Term> terms;
};

bool has(const std::vector<Term>& terms, std::uint32_t id) {
  const auto at =
      std::lower_bound(terms.begin(), terms.end(), id,
                       [](const Term& term, std::uint32_t value) { return term.id < value; });
  return at != terms.end() && at->id == id;
}

}  // namespace

Result<std::vector<Seq>> WordFinder::find(ThreadId thread, std::string_view question,
                                          std::size_t limit) {
  TermTable table;
  const std::vector<Term> wanted = table.terms_of(question);
  if (wanted.empty() || before_ <= 1) return std::vector<Seq>{};
  std::vector<Document> documents;
  MessageQuery query;
  query.direction = Direction::kBackward;
  query.head = before_;
  query.offset = 1;  // the question
  query.limit = kMostMessages;
  SKEIN_TRY(read_messages(store_, thread, query, [&](Event& event) {
    const Message& message = std::get<Message>(event.payload);
    if (message.role == Role::kUser || message.role == Role::kAssistant) {
      documents.push_back(
          {event.seq, table.terms_of(std::string_view(message.text).substr(0, kMostBytes))});
    }
    return true;
  }));
  std::vector<std::pair<double, Seq>> scored;
  for (const Document& document : documents) scored.emplace_back(0, document.seq);
  for (const Term& term : wanted) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < documents.size(); ++i) {
      if (has(documents[i].terms, term.id)) found.push_back(i);
    }
    const double rarity =
        std::log1p(static_cast<double>(documents.size()) / static_cast<double>(found.size() + 1));
    for (const std::size_t i : found) {
      // Long messages have many words; that alone makes no match.
      scored[i].first += rarity / std::sqrt(10.0 + static_cast<double>(documents[i].terms.size()));
    }
  }
  std::sort(scored.begin(), scored.end(), std::greater<>());
  std::vector<Seq> best;
  for (const auto& [score, seq] : scored) {
    if (score <= 0 || best.size() == limit) break;
    best.push_back(seq);
  }
  return best;
}

}  // namespace skein
