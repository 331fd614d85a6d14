#include "recall/rank/question.h"

#include <algorithm>
#include <unordered_set>

#include "core/text.h"
#include "core/try.h"

namespace skein {
namespace {

struct AskedWord {
  std::string folded;
  WordKind kind = WordKind::kWord;
};

bool is_number(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::size_t forgiven(std::string_view word) {
  if (word.size() < 4 || is_number(word)) return 0;
  return word.size() < 8 ? 1 : 2;
}

class QuestionMaker {
 public:
  QuestionMaker(std::string_view text, const Corpus& corpus, std::span<const Speaker> speakers,
                Analyzer& analyzer, Vocabulary& vocabulary)
      : corpus_(corpus), speakers_(speakers), analyzer_(analyzer), vocabulary_(vocabulary) {
    std::vector<std::string_view> words;
    const auto split = analyzer_.splitter().split(beginning(text, kMaxAnalysedBytes));
    const bool pairs = std::any_of(split.begin(), split.end(),
                                   [](const Word& word) { return word.kind == WordKind::kGram; });
    for (const Word& word : split) {
      if (word.kind == WordKind::kWord) words.push_back(word.text);
      if (word.kind == WordKind::kSingle && pairs) continue;
      asked_.push_back({std::string(word.text), word.kind});
    }
    language_ = detect_language(words);
    if (language_ == Language::kUnknown) language_ = usual_language();
  }

  Result<Question> make() {
    find_people();
    SKEIN_ASSIGN(bool asked, add_terms([this](const AskedWord& word) {
                   return !is_stop(word.folded) && !names_speaker(word.folded);
                 }));
    // A question of nothing but names, or nothing but words of grammar, is about these.
    if (!asked) {
      SKEIN_ASSIGN(asked,
                   add_terms([this](const AskedWord& word) { return !is_stop(word.folded); }));
    }
    if (!asked) SKEIN_TRY(add_terms([](const AskedWord&) { return true; }));
    return std::move(question_);
  }

 private:
  Language usual_language() const {
    Language most = Language::kEnglish;
    for (std::size_t i = 1; i < kLanguages; ++i) {
      const auto language = static_cast<Language>(i);
      if (corpus_.messages_in(language) > corpus_.messages_in(most)) most = language;
    }
    return most;
  }

  bool is_stop(std::string_view word) const {
    const Language script = analyzed_script(word);
    return is_stop_word(script == Language::kUnknown ? language_ : script, word);
  }

  static Language analyzed_script(std::string_view word) {
    if (word.empty() || (word[0] & 0x80) == 0) return Language::kUnknown;
    const auto lead = static_cast<unsigned char>(word[0]);
    if (lead >= 0xE0 && word.size() >= 3) {
      return language_of_script((lead & 0x0FU) << 12 | (word[1] & 0x3FU) << 6 | (word[2] & 0x3FU));
    }
    return word.size() >= 2 ? language_of_script((lead & 0x1FU) << 6 | (word[1] & 0x3FU))
                            : Language::kUnknown;
  }

  bool names_speaker(std::string_view word) const { return name_words_.count(std::string(word)); }

  void find_people() {
    WordSplitter splitter;
    std::unordered_set<std::string_view> words;
    for (const AskedWord& word : asked_) words.insert(word.folded);
    for (const Speaker& speaker : speakers_) {
      bool named = false;
      for (const Word& part : splitter.split(speaker.name)) {
        name_words_.emplace(part.text);
        named = named || words.contains(part.text);
      }
      if (named) question_.speakers.push_back(speaker.id);
    }
    if (question_.speakers.size() == speakers_.size()) question_.speakers.clear();
    std::sort(question_.speakers.begin(), question_.speakers.end());
    const auto says = [&](std::initializer_list<std::string_view> any) {
      return std::any_of(any.begin(), any.end(),
                         [&](std::string_view word) { return words.contains(word); });
    };
    question_.asks_of_user = says({"i", "my", "me", "mine", "myself"});
    question_.asks_of_assistant = says({"you", "your", "yours", "assistant"});
  }

  // False: none was wanted. One that no message has is wanted all the same.
  template <class Wanted>
  Result<bool> add_terms(Wanted wanted) {
    std::unordered_set<std::string> known;
    for (const AskedWord& word : asked_) {
      if (!wanted(word) || !known.insert(stem_of(word, language_)).second) continue;
      SKEIN_ASSIGN(QueryTerm term, look_up(word));
      if (!term.alternatives.empty()) question_.terms.push_back(std::move(term));
    }
    return !known.empty();
  }

  std::string stem_of(const AskedWord& word, Language language) {
    if (word.kind != WordKind::kWord) return word.folded;
    return std::string(analyzer_.stemmer().stem(word.folded, language));
  }

  // Languages that more than a stray message is in.
  bool is_spoken(Language language) const {
    return language == language_ || corpus_.messages_in(language) * 50 > corpus_.messages();
  }

  Result<QueryTerm> look_up(const AskedWord& word) {
    QueryTerm term{word.folded, {}};
    const auto add = [&](TermId id, float weight) {
      const bool known = std::any_of(term.alternatives.begin(), term.alternatives.end(),
                                     [id](const Alternative& other) { return other.term == id; });
      if (!known && corpus_.frequency(id) > 0) term.alternatives.push_back({id, weight});
    };
    for (std::size_t i = 1; i < kLanguages; ++i) {
      if (!is_spoken(static_cast<Language>(i))) continue;
      SKEIN_ASSIGN(const auto id, vocabulary_.find(stem_of(word, static_cast<Language>(i))));
      if (id) add(*id, 1);
      if (word.kind != WordKind::kWord) break;
    }
    if (term.alternatives.empty() && word.kind == WordKind::kWord) {
      SKEIN_TRY(add_similar(word, term));
    }
    return term;
  }

  // What the word may have been meant to be, where nobody wrote it as it is.
  Result<void> add_similar(const AskedWord& word, QueryTerm& term) {
    const std::string stem = stem_of(word, language_);
    const std::size_t limit = forgiven(word.folded);
    if (limit == 0) return {};
    struct Similar {
      std::size_t distance, frequency;
      TermId id;
    };
    std::vector<Similar> similar;
    SKEIN_TRY(vocabulary_.each_like(stem, [&](std::string_view other, TermId id) {
      const std::size_t distance = edit_distance(stem, other, limit);
      if (distance > limit) return true;
      const std::size_t frequency = corpus_.frequency(id);
      if (frequency > 0) similar.push_back({distance, frequency, id});
      return true;
    }));
    std::sort(similar.begin(), similar.end(), [](const Similar& a, const Similar& b) {
      return a.distance != b.distance ? a.distance < b.distance : a.frequency > b.frequency;
    });
    constexpr std::size_t kMost = 5;
    if (similar.size() > kMost) similar.resize(kMost);
    for (const Similar& other : similar) {
      if (other.distance > similar.front().distance) break;
      term.alternatives.push_back({other.id, other.distance == 1 ? 0.8F : 0.6F});
    }
    return {};
  }

  const Corpus& corpus_;
  std::span<const Speaker> speakers_;
  Analyzer& analyzer_;
  Vocabulary& vocabulary_;
  std::vector<AskedWord> asked_;
  std::unordered_set<std::string> name_words_;
  Language language_ = Language::kEnglish;
  Question question_;
};

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > limit || b.size() > 2 * kMaxWordBytes) return limit + 1;
  std::array<std::array<std::uint8_t, 2 * kMaxWordBytes + 1>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = static_cast<std::uint8_t>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i - 1) % 3];
    row[0] = static_cast<std::uint8_t>(i);
    std::uint8_t least = row[0];
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::uint8_t replaced =
          static_cast<std::uint8_t>(above[j - 1] + (a[i - 1] != b[j - 1]));
      row[j] = std::min({static_cast<std::uint8_t>(above[j] + 1),
                         static_cast<std::uint8_t>(row[j - 1] + 1), replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], static_cast<std::uint8_t>(rows[(i - 2) % 3][j - 2] + 1));
      }
      least = std::min(least, row[j]);
    }
    if (least > limit) return limit + 1;
  }
  return std::min<std::size_t>(rows[a.size() % 3][b.size()], limit + 1);
}

Result<Question> make_question(std::string_view text, Timestamp now, const Corpus& corpus,
                               std::span<const Speaker> speakers, Analyzer& analyzer,
                               Vocabulary& vocabulary) {
  SKEIN_ASSIGN(Question question,
               QuestionMaker(text, corpus, speakers, analyzer, vocabulary).make());
  question.dates = find_dates(text, now);
  return question;
}

}  // namespace skein
