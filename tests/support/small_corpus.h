// A corpus made of a few messages, without an index.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "recall/rank/ranking.h"
#include "support/expect.h"

namespace skein::test {

struct Said {
  std::string text;
  int thread = 1;
  std::string speaker{};
  Role role = Role::kUser;
  std::string date = "2024-01-01";
};

class SmallCorpus : public Vocabulary {
 public:
  explicit SmallCorpus(const std::vector<Said>& said) {
    for (const Said& one : said) add(one);
    corpus_.build();
  }

  void add(const Said& said) {
    std::vector<TermId> occurrences;
    const Analysed analysed =
        analyzer_.analyse(said.text, Language::kEnglish, [&](std::string_view term) {
          const auto next = static_cast<TermId>(terms_.size() + 1);
          occurrences.push_back(terms_.try_emplace(std::string(term), next).first->second);
        });
    const std::string packed = pack_terms(occurrences);
    SpeakerId speaker = 0;
    if (!said.speaker.empty()) {
      const auto next = static_cast<SpeakerId>(speakers_.size() + 1);
      const auto [found, is_new] = speaker_ids_.try_emplace(said.speaker, next);
      if (is_new) speakers_.push_back({next, said.speaker});
      speaker = found->second;
    }
    texts_.push_back(said.text);
    corpus_.add({.id = static_cast<std::int64_t>(texts_.size()),
                 .thread = ThreadId::from_bits(static_cast<std::uint64_t>(said.thread)),
                 .seq = texts_.size(),
                 .time = must(Timestamp::parse(said.date + "T12:00:00Z")),
                 .words = analysed.words,
                 .role = said.role,
                 .asks = analysed.asks,
                 .language = analysed.language,
                 .speaker = speaker,
                 .terms = packed});
  }

  Question question(std::string_view text, Timestamp now = {}) {
    return must(make_question(text, now, corpus_, speakers_, analyzer_, *this));
  }

  // Texts of messages, best first.
  std::vector<std::string> ask(std::string_view text, std::size_t per_thread = 100) {
    const Question asked = question(text);
    RankRequest request{.question = asked};
    request.limit = 100;
    request.per_thread = per_thread;
    std::vector<std::string> found;
    for (const Ranked& ranked : rank(corpus_, request).best) found.push_back(texts_[ranked.place]);
    return found;
  }

  Corpus& corpus() { return corpus_; }

  Result<std::optional<TermId>> find(std::string_view term) override {
    const auto found = terms_.find(std::string(term));
    return found == terms_.end() ? std::nullopt : std::optional(found->second);
  }
  Result<void> each_like(std::string_view term, const Sink& sink) override {
    for (const auto& [text, id] : terms_) {
      if (text[0] == term[0] && !sink(text, id)) break;
    }
    return {};
  }

 private:
  Analyzer analyzer_;
  Corpus corpus_;
  std::map<std::string, TermId> terms_;
  std::map<std::string, SpeakerId> speaker_ids_;
  std::vector<Speaker> speakers_;
  std::vector<std::string> texts_;
};

}  // namespace skein::test
