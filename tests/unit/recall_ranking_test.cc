#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "recall/vectors.h"
#include "support/small_corpus.h"

namespace skein::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string first(const std::vector<std::string>& found) { return found.empty() ? "" : found[0]; }

TEST(TermLists, ComeBackAsTheyWerePacked) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::map<TermId, std::uint32_t> counts;
    std::vector<TermId> occurrences;
    for (unsigned i = random() % 50; i > 0; --i) {
      const auto term = static_cast<TermId>(random() % 3 == 0 ? random() : random() % 20);
      ++counts[term];
      occurrences.push_back(term);
    }
    std::map<TermId, std::uint32_t> found;
    EXPECT_TRUE(unpack_terms(pack_terms(occurrences),
                             [&](TermCount term) { found[term.term] = term.count; }));
    EXPECT_EQ(found, counts);
  }
}

TEST(TermLists, ThatAreDamagedAreNotTaken) {
  EXPECT_FALSE(unpack_terms("\xFF", [](TermCount) {}));
  EXPECT_FALSE(unpack_terms("\x01", [](TermCount) {}));
  EXPECT_FALSE(unpack_terms("\xFF\xFF\xFF\xFF\xFF\xFF\x7F", [](TermCount) {}));
}

TEST(Corpora, LinkTheMessagesOfAThreadInWhicheverOrderTheyCome) {
  constexpr std::int64_t kMany = 200'000;
  Corpus corpus;
  for (std::int64_t id = 1; id <= kMany; ++id) {
    CorpusMessage message;
    message.id = id;
    message.thread = ThreadId::from_bits(1);
    message.seq = Seq(kMany - id + 1);
    corpus.add(message);
  }
  corpus.build();
  Seq last = kMany + 1;
  std::int64_t linked = 0;
  for (Place at = corpus.last_of(ThreadId::from_bits(1)); at != kNowhere; at = corpus.before(at)) {
    ASSERT_LT(corpus.seq(at), last);
    last = corpus.seq(at);
    ++linked;
  }
  EXPECT_EQ(linked, kMany);
}

TEST(Corpora, OfFewTermsWithHighNumbersAreFoundByThem) {
  Corpus corpus;
  std::vector<TermId> terms = {7, 0xFFFFFFF0U, 0xFFFFFFF0U};
  for (std::int64_t id = 1; id <= 2; ++id) {
    const std::string packed = pack_terms(terms);
    CorpusMessage message;
    message.id = id;
    message.thread = ThreadId::from_bits(1);
    message.terms = packed;
    corpus.add(message);
    terms.erase(terms.begin());
  }
  corpus.build();
  std::vector<std::pair<Place, std::uint32_t>> found;
  corpus.each_with(0xFFFFFFF0U, [&](Place place, auto count) { found.emplace_back(place, count); });
  EXPECT_THAT(found, ElementsAre(std::pair(0U, 2U), std::pair(1U, 2U)));
  EXPECT_EQ(corpus.frequency(7), 1U);
  EXPECT_EQ(corpus.frequency(8), 0U);
}

// The kernel as it is defined, message by message.
float defined_score(const Corpus& corpus, const std::vector<QueryTerm>& terms, Place place,
                    const KernelWeights& w) {
  const auto x = [&](const QueryTerm& term, Place at) {
    float best = 0;
    for (const Alternative& alternative : term.alternatives) {
      corpus.each_with(alternative.term, [&](Place other, std::uint32_t count) {
        if (other != at) return;
        const auto tf = static_cast<float>(count);
        const float length =
            static_cast<float>(corpus.words(at)) / static_cast<float>(corpus.average_words());
        best = std::max(best, alternative.weight * tf /
                                  (tf + w.saturation * (1 - w.length + w.length * length)));
      });
    }
    return best;
  };
  const float g = std::min(1.0F, w.leaning_words / static_cast<float>(corpus.words(place)));
  float score = 0;
  for (const QueryTerm& term : terms) {
    std::size_t with = 0;
    float in_thread = 0;
    for (Place other = 0; other < corpus.size(); ++other) {
      with += x(term, other) > 0;
      if (corpus.thread(other) == corpus.thread(place)) {
        in_thread = std::max(in_thread, x(term, other));
      }
    }
    float missing = 1 - x(term, place);
    Place other = place;
    for (std::size_t d = 0; d < 3 && (other = corpus.before(other)) != kNowhere; ++d) {
      const float weight = d == 0 && corpus.asks(other) ? w.asked : w.previous[d];
      missing *= 1 - g * weight * x(term, other);
    }
    other = place;
    for (std::size_t d = 0; d < 3 && (other = corpus.after(other)) != kNowhere; ++d) {
      missing *= 1 - g * w.next[d] * x(term, other);
    }
    missing *= 1 - w.thread * g * in_thread;
    const auto n = static_cast<float>(corpus.messages());
    const auto df = static_cast<float>(with);
    score += std::log(1 + (n - df + 0.5F) / (df + 0.5F)) * (1 - missing);
  }
  return score;
}

TEST(Kernel, IsWhatItsDefinitionSaysOnRandomConversations) {
  std::mt19937 random(7);
  const std::vector<std::string> vocabulary = {"apple", "river",  "cloud", "engine",
                                               "paper", "winter", "glass", "mountain"};
  for (int round = 0; round < 20; ++round) {
    std::vector<Said> said;
    for (int i = 0; i < 40; ++i) {
      std::string text;
      for (unsigned n = 1 + random() % 60; n > 0; --n) text += vocabulary[random() % 8] + " ";
      if (random() % 4 == 0) text += "?";
      said.push_back({.text = text, .thread = static_cast<int>(random() % 5)});
    }
    SmallCorpus small(said);
    const Question question = small.question("rivers of winter paper and glass");
    ASSERT_THAT(question.terms, SizeIs(4));
    const std::vector<float> scores = lexical_scores(small.corpus(), question.terms);
    for (Place place = 0; place < scores.size(); ++place) {
      EXPECT_NEAR(scores[place], defined_score(small.corpus(), question.terms, place, {}), 1e-3);
    }
  }
}

TEST(Kernel, CountsTheBestOfSeveralForms) {
  SmallCorpus small({{"the boat"}, {"a ship"}, {"a boat, a ship"}, {"neither"}});
  const TermId boat = **small.find("boat");
  const TermId ship = **small.find("ship");
  const std::vector<QueryTerm> either = {{"boat", {{boat, 1.0F}, {ship, 0.5F}}}};
  const std::vector<float> scores = lexical_scores(small.corpus(), either);
  for (Place place = 0; place < scores.size(); ++place) {
    EXPECT_NEAR(scores[place], defined_score(small.corpus(), either, place, {}), 1e-4);
  }
}

TEST(Ranking, PutsTheAnswerToAQuestionBeforeOtherNeighbours) {
  SmallCorpus small({{"Nothing much happened."},
                     {"Where did the parcel go?"},
                     {"To the office on the second floor."},
                     {"Thanks."},
                     {"Another day.", 2}});
  const auto found = small.ask("parcel");
  EXPECT_THAT(found, SizeIs(4));  // those of the thread, and nobody else
  EXPECT_EQ(found[0], "Where did the parcel go?");
  EXPECT_EQ(found[1], "To the office on the second floor.");
}

TEST(Ranking, PrefersWhoTheQuestionNames) {
  SmallCorpus small({{"I bought a violin.", 1, "Ana"},
                     {"I bought a violin.", 2, "Bo"},
                     {"I bought a violin.", 3, "Cem"}});
  const Question question = small.question("Which violin did Bo buy?");
  EXPECT_THAT(question.speakers, ElementsAre(2u));
  EXPECT_EQ(rank(small.corpus(), {.question = question}).best[0].place, 1u);
  EXPECT_THAT(small.question("What did Ana, Bo and Cem buy?").speakers, IsEmpty());
  EXPECT_THAT(small.question("What did Bo's violin cost?").terms, SizeIs(1));
}

TEST(Ranking, PrefersUsersWhereNobodyIsNamed) {
  SmallCorpus small({{"the plan is to sail", 1, "", Role::kAssistant},
                     {"the plan is to sail", 2, "", Role::kUser}});
  const auto role_of_best = [&](std::string_view text) {
    const Question question = small.question(text);
    return small.corpus().role(rank(small.corpus(), {.question = question}).best[0].place);
  };
  EXPECT_EQ(role_of_best("What is my plan?"), Role::kUser);
  EXPECT_EQ(role_of_best("Which plan?"), Role::kUser);
  const Question of_assistant = small.question("What plan did you suggest?");
  EXPECT_EQ(rank(small.corpus(), {.question = of_assistant}).best[0].parts.speaker, 0);
}

TEST(Ranking, MarksTheMessageWithTheWordsWhoeverSaidIt) {
  const std::string repainted = "The zebra crossing was repainted.";
  SmallCorpus alone({{"What was done downtown?", 1}, {repainted, 1, "", Role::kAssistant}});
  EXPECT_EQ(first(alone.ask("zebra crossing repainted")), repainted);
  EXPECT_EQ(first(alone.ask("Was the zebra crossing repainted?")), repainted);
  SmallCorpus among_others({{"What was done downtown?", 1},
                            {repainted, 1, "", Role::kAssistant},
                            {"Thanks, good to know that this is finally done.", 1},
                            {"Which bus goes there?", 2},
                            {"Take line four to the town hall.", 2, "", Role::kAssistant},
                            {"Is there a zebra in the zoo?", 3},
                            {"Two of them, and a giraffe.", 3, "", Role::kAssistant}});
  EXPECT_EQ(first(among_others.ask("zebra crossing repainted")), repainted);
}

// A message with every word of the question, and around it messages of the preferred role with
// none.
TEST(Ranking, NeverPutsABonusBeforeTheWordsThemselves) {
  std::mt19937 random(11);
  const std::vector<std::string> others = {"apple", "river", "cloud", "engine", "paper", "winter"};
  for (int round = 0; round < 200; ++round) {
    std::vector<Said> said;
    const std::size_t messages = 2 + random() % 30;
    const std::size_t answer = random() % messages;
    for (std::size_t i = 0; i < messages; ++i) {
      std::string text = i == answer ? "glass mountain harbour" : "";
      for (std::size_t n = i == answer ? 2 : 5; n > 0; --n) text += " " + others[random() % 6];
      if (i != answer && random() % 3 == 0) text += "?";
      said.push_back({.text = text,
                      .thread = static_cast<int>(random() % 3),
                      .role = i == answer ? Role::kAssistant : Role::kUser});
    }
    SmallCorpus small(said);
    EXPECT_EQ(first(small.ask("glass mountain harbour")), said[answer].text) << round;
  }
}

TEST(Ranking, NeverPutsASpeakerOrADateBeforeClearlyMoreEvidence) {
  SmallCorpus small({{"Hello there, how are you all?", 1, "Bo", Role::kUser, "2023-05-07"},
                     {"I am fine and so is the dog", 1, "Cem", Role::kUser, "2023-03-01"},
                     {"Lunch was good today I think", 1, "Cem", Role::kUser, "2023-03-01"},
                     {"So was dinner as I remember", 1, "Cem", Role::kUser, "2023-03-01"},
                     {"The zebra crossing was repainted", 1, "Ana", Role::kUser, "2023-03-01"}});
  const std::string repainted = "The zebra crossing was repainted";
  EXPECT_EQ(first(small.ask("Who told Bo that the zebra crossing was repainted?")), repainted);
  EXPECT_EQ(first(small.ask("Was the zebra crossing repainted on 7 May 2023?")), repainted);
}

TEST(Ranking, PrefersTheDateThatTheQuestionNames) {
  SmallCorpus small({{"We met at the lake", 1, "", Role::kUser, "2023-03-04"},
                     {"We met at the lake", 2, "", Role::kUser, "2023-05-07"},
                     {"We met at the lake", 3, "", Role::kUser, "2023-07-01"}});
  const auto place_of_best = [&](std::string_view text) {
    const Question question = small.question(text);
    return rank(small.corpus(), {.question = question}).best[0].place;
  };
  EXPECT_EQ(place_of_best("Who met at the lake in March 2023?"), 0u);
  EXPECT_EQ(place_of_best("Who met at the lake on 8 May 2023?"), 1u);
  EXPECT_EQ(place_of_best("Who met at the lake?"), 2u);  // the latest
}

TEST(Ranking, PutsALaterStatementBeforeAnEarlierOneThatIsAsGood) {
  SmallCorpus small({{"The limit is 30 requests.", 1, "", Role::kUser, "2024-01-01"},
                     {"The limit is 60 requests.", 2, "", Role::kUser, "2024-02-01"}});
  EXPECT_EQ(first(small.ask("What is the limit of requests?")), "The limit is 60 requests.");
  SmallCorpus other_way({{"The limit is 60 requests.", 2, "", Role::kUser, "2024-02-01"},
                         {"The limit is 30 requests.", 1, "", Role::kUser, "2024-01-01"}});
  EXPECT_EQ(first(other_way.ask("What is the limit of requests?")), "The limit is 60 requests.");
}

TEST(Ranking, FindsNothingWhereNoWordMatches) {
  SmallCorpus small({{"Bread and butter."}});
  EXPECT_THAT(small.ask("zeppelin"), IsEmpty());
  EXPECT_THAT(small.ask("the zeppelin and its pilot"), IsEmpty());
  EXPECT_THAT(small.ask("the of and"), SizeIs(1));  // then these words count
}

TEST(Ranking, GivesSoManyOfAThreadAsWereAskedFor) {
  SmallCorpus small({{"red kite"}, {"red kite again"}, {"red kite elsewhere", 2}});
  EXPECT_THAT(small.ask("kite", 1), SizeIs(2));
  EXPECT_THAT(small.ask("kite", 2), SizeIs(3));
}

TEST(Ranking, SumsItsPartsUp) {
  SmallCorpus small({{"I saw a heron", 1, "Ana"}, {"A heron? Where?", 1, "Bo"}, {"Here", 2, "Bo"}});
  const Question question = small.question("Did Ana see a heron in January?");
  for (const Ranked& ranked : rank(small.corpus(), {.question = question, .limit = 10}).best) {
    EXPECT_FLOAT_EQ(ranked.score, ranked.parts.sum());
    EXPECT_GT(ranked.parts.date, 0);
  }
}

TEST(Ranking, UsesVectorsAndTreatsWhatHasNoneAsAverage) {
  SmallCorpus small({{"alpha"}, {"beta", 2}, {"gamma", 3}, {"delta", 4}});
  Corpus& corpus = small.corpus();
  corpus.first.reset(4);
  const auto put = [&](Place place, std::vector<float> vector) {
    corpus.first.set(place, vector_bytes(quantize(vector)));
  };
  put(0, {1, 0, 0, 0});
  put(1, {0, 1, 0, 0});
  put(2, {0.8F, 0.6F, 0, 0});
  const std::vector<float> asked = {0, 1, 0, 0};
  const Question question = small.question("something else");
  RankRequest request{.question = question, .vector = asked, .limit = 10};
  const RankOutcome outcome = rank(corpus, request);
  EXPECT_TRUE(outcome.used_vectors);
  EXPECT_EQ(outcome.without_vector, 1u);
  ASSERT_THAT(outcome.best, SizeIs(4));
  EXPECT_EQ(outcome.best[0].place, 1u);
  EXPECT_EQ(outcome.best.back().place, 0u);
  request.by = RankBy::kWithoutVectors;
  EXPECT_THAT(rank(corpus, request).best, IsEmpty());
}

TEST(Corpus, ForgetsRemovedMessagesAndTakesNewOnes) {
  SmallCorpus small({{"one otter"}, {"two otters"}, {"three otters"}});
  Corpus& corpus = small.corpus();
  corpus.remove(1);
  EXPECT_EQ(corpus.messages(), 2u);
  EXPECT_EQ(corpus.after(0), 2u);
  EXPECT_EQ(corpus.before(2), 0u);
  small.add({"four otters"});
  EXPECT_EQ(corpus.after(2), 3u);
  EXPECT_THAT(small.ask("otter"),
              testing::UnorderedElementsAre("one otter", "three otters", "four otters"));
  corpus.remove(3);
  EXPECT_EQ(corpus.last_of(ThreadId::from_bits(1)), 2u);
}

TEST(Questions, ForgiveSmallMistakesInWordsThatNobodyWrote) {
  SmallCorpus small({{"The kitchen cabinet"}, {"An encyclopedia", 2}, {"kit", 3}});
  EXPECT_EQ(first(small.ask("kithcen")), "The kitchen cabinet");
  EXPECT_EQ(first(small.ask("kichen")), "The kitchen cabinet");
  EXPECT_EQ(first(small.ask("encyclopaedai")), "An encyclopedia");
  EXPECT_THAT(small.ask("kat"), IsEmpty());  // too short
  EXPECT_THAT(small.ask("12345"), IsEmpty());
  EXPECT_THAT(small.ask("kitchen"), Not(Contains("kit")));
}

TEST(Questions, FindIdentifiersByTheirPartsAndTheOtherWayRound) {
  SmallCorpus small(
      {{"Call getUserById first"}, {"see max_retry_count", 2}, {"in src/a/open_url.cc", 3}});
  EXPECT_EQ(first(small.ask("user id")), "Call getUserById first");
  EXPECT_EQ(first(small.ask("getuserbyid")), "Call getUserById first");
  EXPECT_EQ(first(small.ask("maxRetryCount")), "see max_retry_count");
  EXPECT_EQ(first(small.ask("open_url.cc")), "in src/a/open_url.cc");
}

TEST(Questions, InLanguagesOfTheCorpusFindOtherForms) {
  SmallCorpus small({{"Wir haben die Häuser nicht gesehen und sind gegangen"},
                     {"Я видел кошку", 2},
                     {"東京タワーに行きました", 3}});
  EXPECT_THAT(first(small.ask("Haus")), testing::StartsWith("Wir"));
  EXPECT_EQ(first(small.ask("кошки")), "Я видел кошку");
  EXPECT_EQ(first(small.ask("東京")), "東京タワーに行きました");
  EXPECT_EQ(first(small.ask("京")), "東京タワーに行きました");
}

TEST(Questions, HaveNoOperators) {
  SmallCorpus small({{"plain words here"}, {"other things", 2}});
  for (const std::string_view text :
       {"\"plain", "plain*", "plain AND NOT words", "text:plain OR", "NEAR(plain)",
        "plain'; DROP TABLE messages; --", "plain%_"}) {
    EXPECT_EQ(first(small.ask(text)), "plain words here") << text;
  }
}

TEST(EditDistances, CountSwapsOnceAndEndAtTheirLimit) {
  EXPECT_EQ(edit_distance("kitchen", "kitchen", 2), 0u);
  EXPECT_EQ(edit_distance("kithcen", "kitchen", 2), 1u);
  EXPECT_EQ(edit_distance("kichen", "kitchen", 2), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting", 2), 3u);
  EXPECT_EQ(edit_distance("", "ab", 2), 2u);
  EXPECT_EQ(edit_distance("abc", std::string(500, 'x'), 2), 3u);
}

}  // namespace
}  // namespace skein::test
