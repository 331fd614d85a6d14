#include <sys/stat.h>

#include <atomic>
#include <boost/json.hpp>
#include <fstream>
#include <sstream>
#include <thread>

#include "contract/recall_fixture.h"
#include "core/sqlite.h"

namespace skein::test {
namespace {

SKEIN_RECALL_ON_EVERY_BACKEND(Backfill);

TEST_P(Backfill, CountsWhatIsNewAndNothingTwice) {
  const Manifest thread = thread_with({"one", "two"});
  BackfillResult result = backfill();
  EXPECT_EQ(result.embedded, 2u);
  EXPECT_EQ(result.cleaned, 0u);
  result = backfill();
  EXPECT_EQ(result.embedded, 0u);
  EXPECT_EQ(result.cleaned, 0u);
  must_append(store(), thread.id, message("three"));
  EXPECT_EQ(backfill().embedded, 1u);
  EXPECT_EQ(must(recall().status()).messages, 3u);
}

TEST_P(Backfill, OfOneAgentLeavesTheOthers) {
  thread_with({"one"}, "one");
  thread_with({"two", "two"}, "two");
  EXPECT_EQ(backfill("two").embedded, 2u);
  EXPECT_EQ(backfill("two").embedded, 0u);
  EXPECT_EQ(backfill("nobody").embedded, 0u);
  EXPECT_EQ(backfill().embedded, 1u);
  EXPECT_TRUE(fails(recall().backfill({.agent_id = "a/b"}), ErrorCode::kInvalid));
}

TEST_P(Backfill, RemovesWhatThreadsLeftBehind) {
  const Manifest gone = thread_with({"one", "two"});
  const Manifest stays = thread_with({"three"});
  backfill();
  must(store().remove(gone.id));
  const BackfillResult result = backfill();
  EXPECT_EQ(result.embedded, 0u);
  EXPECT_EQ(result.cleaned, 2u);
  EXPECT_EQ(backfill().cleaned, 0u);
  EXPECT_EQ(must(recall().status()).messages, 1u);
  EXPECT_EQ(must(recall().status()).threads, 1u);
}

TEST_P(Backfill, NoticesAThreadThatWasMadeAgainUnderTheSameId) {
  const Manifest old = thread_with({"the old words"});
  backfill();
  must(store().remove(old.id));
  clock().advance(std::chrono::minutes(1));
  NewThread again;
  again.agent_id = "agent";
  again.id = old.id;
  again.events = {message("the new words")};
  must(store().create(again));
  const BackfillResult result = backfill();
  EXPECT_EQ(result.embedded, 1u);
  EXPECT_EQ(result.cleaned, 1u);
  EXPECT_THAT(found("words"), ElementsAre("the new words"));
}

TEST_P(Backfill, GoesOnWhereItWasStopped) {
  for (int i = 0; i < 30; ++i) {
    std::vector<std::string> texts(300, "message of thread " + std::to_string(i));
    thread_with(texts);
  }
  std::stop_source stop;
  BackfillOptions options;
  options.stop = stop.get_token();
  options.progress = [&](const BackfillProgress& progress) {
    EXPECT_LE(progress.done, progress.total);
    stop.request_stop();
  };
  const BackfillResult first = must(recall().backfill(options));
  EXPECT_TRUE(first.stopped);
  EXPECT_GT(first.embedded, 0u);
  EXPECT_LT(first.embedded, 9000u);
  const BackfillResult second = backfill();
  EXPECT_FALSE(second.stopped);
  EXPECT_EQ(first.embedded + second.embedded, 9000u);
  EXPECT_EQ(must(recall().status()).messages, 9000u);
}

TEST_P(Backfill, MakesAnIndexThatLastsAndIsShared) {
  if (!backend_.persistent()) {
    thread_with({"only here"});
    EXPECT_EQ(backfill().embedded, 1u);
    return;
  }
  thread_with({"kept"});
  backfill();
  recall_.reset();
  EXPECT_THAT(found("kept"), ElementsAre("kept"));
  EXPECT_EQ(backfill().embedded, 0u);
  // Another process's index, at the same time.
  auto other = open_recall();
  thread_with({"kept as well"});
  EXPECT_EQ(must(other->backfill()).embedded, 1u);
  EXPECT_EQ(backfill().embedded, 0u);
  EXPECT_THAT(found("kept"), SizeIs(2));
}

TEST_P(Backfill, FromTheStartGivesTheSame) {
  thread_with({"one", "two"});
  backfill();
  const BackfillResult result = must(recall().backfill({.rebuild = true}));
  EXPECT_EQ(result.embedded, 2u);
  EXPECT_THAT(found("two"), SizeIs(1));
}

TEST_P(Backfill, WithAModelCountsMessagesThatGotVectors) {
  WordEmbedder embedder;
  const Manifest thread = thread_with({"one", "two", "three"});
  EXPECT_EQ(backfill().embedded, 3u);  // without a model
  recall_ = open_recall(&embedder);
  if (!backend_.persistent()) backfill();
  if (backend_.persistent()) {
    EXPECT_EQ(backfill().embedded, 3u);
  }
  EXPECT_EQ(backfill().embedded, 0u);
  EXPECT_EQ(embedder.texts(), 5u);  // each, and the last two with the one before
  must_append(store(), thread.id, message("four"));
  EXPECT_EQ(backfill().embedded, 1u);
  const RecallStatus status = must(recall().status("agent"));
  EXPECT_EQ(status.with_vectors, 4u);
  EXPECT_EQ(status.model, embedder.model());
  const SearchAnswer answer = search("three");
  EXPECT_TRUE(answer.used_vectors);
  EXPECT_EQ(answer.without_vector, 0u);
  EXPECT_EQ(answer.note, "");
  EXPECT_EQ(matches(answer)[0], "three");
}

TEST_P(Backfill, WithAnotherModelMakesAllVectorsAnew) {
  WordEmbedder first("first/64");
  WordEmbedder second("second/64");
  thread_with({"one", "two"});
  recall_ = open_recall(&first);
  EXPECT_EQ(backfill().embedded, 2u);
  if (!backend_.persistent()) return;
  recall_ = open_recall(&second);
  SearchAnswer answer = search("one");
  EXPECT_FALSE(answer.used_vectors);  // those of the first mean nothing to the second
  EXPECT_EQ(answer.without_vector, 2u);
  EXPECT_THAT(answer.note, testing::HasSubstr("no vector"));
  EXPECT_EQ(backfill().embedded, 2u);
  EXPECT_TRUE(search("one").used_vectors);
}

TEST_P(Backfill, TellsWhenTheModelFailsAndSearchGoesOnWithWords) {
  WordEmbedder embedder;
  recall_ = open_recall(&embedder);
  thread_with({"one tern"});
  embedder.fail_from_now_on(true);
  EXPECT_TRUE(fails(recall().backfill(), ErrorCode::kIo, {"out of order"}));
  const SearchAnswer answer = search("tern");  // its words are indexed
  EXPECT_THAT(matches(answer), ElementsAre("one tern"));
  EXPECT_FALSE(answer.used_vectors);
  EXPECT_THAT(answer.note, testing::HasSubstr("out of order"));
  embedder.fail_from_now_on(false);
  EXPECT_EQ(backfill().embedded, 1u);
  EXPECT_TRUE(search("tern").used_vectors);
}

TEST_P(Backfill, LeavesNoWordsOfWhatWasRemoved) {
  if (!backend_.persistent()) return SUCCEED();
  const Manifest gone = thread_with({"xylophonesecret"});
  thread_with({"common"});
  backfill();
  must(store().remove(gone.id));
  backfill();
  recall_.reset();  // closes the file: the log goes into it
  std::ifstream file(index_path(), std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  EXPECT_THAT(bytes.str(), testing::HasSubstr("common"));
  EXPECT_EQ(bytes.str().find("xylophonesecret"), std::string::npos);
}

TEST_P(Backfill, IsNotNeededForWhatAFollowerIndexes) {
  WordEmbedder embedder;
  recall_ = open_recall(&embedder);
  thread_with({"before it started"});
  std::atomic<int> errors = 0;
  {
    RecallFollower follower(recall(), [&](const Error&) { ++errors; });
    const Manifest thread = thread_with({"as it arrives"});
    must_append(store(), thread.id, message("and more"));
    const auto indexed = [&] { return must(recall().status()).with_vectors == 3u; };
    for (int i = 0; i < 6000 && !indexed(); ++i) std::this_thread::sleep_for(10ms);
    EXPECT_TRUE(indexed());
    EXPECT_THAT(found("arrives"), SizeIs(testing::Ge(1u)));
  }
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(backfill().embedded, 0u);
}

TEST_P(Backfill, DoesNotKeepNewWordsWaitingForOldVectors) {
  WordEmbedder embedder;
  std::vector<std::uint64_t> messages;
  const Manifest thread = thread_with(std::vector<std::string>(130, "long before"));
  embedder.before_each = [&] {
    messages.push_back(must(recall().status()).messages);
    if (messages.size() == 1) must_append(store(), thread.id, message("as it arrives"));
  };
  recall_ = open_recall(&embedder);
  std::uint64_t embedded = 0;
  for (bool more = true; more;) {
    const FollowResult round = must(recall().index_new());
    embedded += round.embedded;
    more = round.more;
  }
  EXPECT_EQ(embedded, 131u);
  ASSERT_GT(messages.size(), 1u);
  EXPECT_EQ(messages.front(), 130u);
  messages.erase(messages.begin());
  EXPECT_THAT(messages, testing::Each(131u)) << "its words came with the next batch of vectors";
}

TEST_P(Backfill, CanBeOfOneThreadAlone) {
  WordEmbedder embedder;
  recall_ = open_recall(&embedder);
  const Manifest thread = thread_with({"one finch", "two finches"});
  thread_with({"another finch"});
  EXPECT_EQ(must(recall().index_thread(thread.id)).embedded, 2u);
  EXPECT_EQ(must(recall().index_thread(thread.id)).embedded, 0u);
  must_append(store(), thread.id, message("three finches"));
  EXPECT_EQ(must(recall().index_thread(thread.id)).embedded, 1u);
  EXPECT_EQ(must(recall().index_thread(ThreadId::from_bits(1))).embedded, 0u);
  EXPECT_THAT(search("finch").results, SizeIs(1));
  EXPECT_EQ(search("finch").not_indexed, 1u);
  EXPECT_EQ(backfill().embedded, 1u);
  EXPECT_EQ(search("finch").not_indexed, 0u);
}

TEST_P(Backfill, RunsBesideAppendsRemovalsAndSearches) {
  WordEmbedder embedder;
  recall_ = open_recall(&embedder);
  std::vector<ThreadId> threads;
  for (int i = 0; i < 4; ++i) threads.push_back(thread_with({"seed message"}).id);
  std::atomic<bool> done = false;
  std::atomic<int> appended = 0;
  {
    std::vector<std::jthread> workers;
    workers.emplace_back([&] {
      for (int i = 0; i < 60; ++i) {
        must_append(store(), threads[static_cast<std::size_t>(i) % 4], message("busy message"));
        ++appended;
      }
      done = true;
    });
    workers.emplace_back([&] {
      for (int i = 0; i < 8; ++i) must(store().remove(thread_with({"short lived message"}).id));
    });
    for (int n = 0; n < 2; ++n) {
      workers.emplace_back([&] {
        while (!done) EXPECT_TRUE(ok(recall().backfill()));
      });
      workers.emplace_back([&] {
        while (!done) EXPECT_TRUE(ok(recall().search("message", of_agent())));
      });
    }
  }
  backfill();
  EXPECT_EQ(backfill().embedded, 0u);
  EXPECT_EQ(must(recall().status()).messages, 64u);
  EXPECT_EQ(must(recall().status()).with_vectors, 64u);
  EXPECT_EQ(search("message").not_indexed, 0u);
}

class VectorFiles : public RecallContract {
 protected:
  std::filesystem::path file() {
    return std::filesystem::path(backend_.url().substr(6)) / "agent" / "embeddings.jsonl";
  }
  std::vector<std::string> lines() {
    std::ifstream stream(file());
    std::vector<std::string> all;
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }
  WordEmbedder embedder_;
};
INSTANTIATE_TEST_SUITE_P(, VectorFiles, testing::Values("jsonl"), backend_of);

TEST_P(VectorFiles, HaveALineForEachMessage) {
  recall_ = open_recall(&embedder_);
  const Manifest thread = thread_with({"one", "two"});
  backfill();
  ASSERT_THAT(lines(), SizeIs(2));
  EXPECT_THAT(lines()[1],
              testing::StartsWith("{\"threadId\":\"" + thread.id.str() +
                                  "\",\"messageIndex\":1,\"role\":\"assistant\",\"text\":\"two\","
                                  "\"embedding\":["));
  EXPECT_THAT(lines()[1], testing::HasSubstr("],\"timestamp\":\"20"));
  EXPECT_THAT(lines()[1], testing::EndsWith("\"seq\":2,\"model\":\"words/1/64\"}"));
  EXPECT_TRUE(Json::parse_object(lines()[1]).has_value());
  must_append(store(), thread.id, message("three"));
  backfill();
  EXPECT_THAT(lines(), SizeIs(3));
}

TEST_P(VectorFiles, LoseTheLinesOfThreadsThatAreGone) {
  recall_ = open_recall(&embedder_);
  const Manifest gone = thread_with({"one", "two"});
  const Manifest stays = thread_with({"three"});
  backfill();
  must(store().remove(gone.id));
  backfill();
  ASSERT_THAT(lines(), SizeIs(1));
  EXPECT_THAT(lines()[0], testing::HasSubstr(stays.id.str()));
}

TEST_P(VectorFiles, ALineWithoutEndIsNamedAndNotReadToItsEnd) {
  recall_ = open_recall(&embedder_);
  const Manifest thread = thread_with({"one", "two"});
  backfill();
  const std::uintmax_t terabyte = std::uintmax_t{1} << 40;
  std::filesystem::resize_file(file(), terabyte);
  EXPECT_TRUE(fails(recall().backfill(), ErrorCode::kDamaged,
                    {file().string(), "line exceeds", "remove the line or delete the file"}));
  must(store().remove(thread.id));
  EXPECT_TRUE(fails(recall().forget_threads({thread.id}), ErrorCode::kDamaged, {file().string()}));
  EXPECT_EQ(std::filesystem::file_size(file()), terabyte);
}

TEST_P(VectorFiles, APipeInTheirPlaceKeepsNobodyWaiting) {
  recall_ = open_recall(&embedder_);
  const Manifest thread = thread_with({"one", "two"});
  backfill();
  std::filesystem::remove(file());
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  must_append(store(), thread.id, message("three"));
  const auto filled = recall().backfill();
  if (!filled) EXPECT_THAT(filled.error().message, testing::HasSubstr(file().string()));
  EXPECT_EQ(search("three").results.size(), 1u);
}

TEST_P(VectorFiles, AreMendedAndKeepTheLinesOfOthers) {
  recall_ = open_recall(&embedder_);
  thread_with({"one", "two"});
  backfill();
  std::ofstream(file(), std::ios::app) << "{\"someone\":\"else\"}\n{\"torn";
  backfill();
  EXPECT_THAT(lines(), SizeIs(4));
  std::filesystem::remove(file());
  thread_with({"three"});
  backfill();
  EXPECT_THAT(lines(), SizeIs(3));
}

// The schema of the program that the file is shared with.
void expect_foreign_schema(const std::string& line) {
  const auto json = boost::json::parse(line);
  EXPECT_TRUE(json.at("threadId").is_string());
  EXPECT_TRUE(json.at("messageIndex").is_int64());
  EXPECT_TRUE(json.at("role") == "user" || json.at("role") == "assistant");
  EXPECT_TRUE(json.at("text").is_string());
  EXPECT_TRUE(json.at("timestamp").is_string());
  for (const auto& value : json.at("embedding").as_array()) EXPECT_TRUE(value.is_number());
  EXPECT_EQ(json.at("embedding").as_array().size(), 64U);
}

TEST_P(VectorFiles, CountMessagesAsTheLinesOfTheThreadDo) {
  recall_ = open_recall(&embedder_);
  Event tool;
  tool.payload = ToolUse{"clock", Json::trusted("{}")};
  const Manifest thread = create_thread(store(), "agent",
                                        {message("system words", Role::kSystem), message("one"),
                                         tool, message("left behind", Role::kAssistant)});
  Event edited = message("two", Role::kAssistant);
  edited.base = 3;
  must_append(store(), thread.id, edited);
  backfill();
  must_append(store(), thread.id, message("three"));
  backfill();
  std::vector<std::pair<std::string, std::int64_t>> counted;
  for (const std::string& line : lines()) {
    expect_foreign_schema(line);
    const auto json = boost::json::parse(line);
    counted.emplace_back(json.at("text").as_string(), json.at("messageIndex").as_int64());
  }
  EXPECT_THAT(counted,
              testing::UnorderedElementsAre(testing::Pair("one", 0), testing::Pair("two", 2),
                                            testing::Pair("three", 3)));
}

TEST_P(VectorFiles, OfVersionOneAreWrittenAnew) {
  recall_ = open_recall(&embedder_);
  const Manifest thread = thread_with({"one", "two"});
  backfill();
  std::string old;
  for (int seq = 1; seq <= 2; ++seq) {
    old += "{\"threadId\":\"" + thread.id.str() + "\",\"seq\":" + std::to_string(seq) +
           ",\"role\":\"user\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"model\":\"words/1/64\","
           "\"scale\":0.5,\"vector\":[1,2]}\n";
  }
  // As that version left it: as long as the index says.
  const auto length = std::filesystem::file_size(file());
  ASSERT_LE(old.size(), length);
  old.insert(old.size() - 1, std::string(length - old.size(), ' '));
  std::ofstream(file(), std::ios::trunc) << old;
  backfill();
  EXPECT_THAT(lines()[0], testing::HasSubstr("scale")) << "it looks as it should";
  must(must(Database::open(index_path(), 1000))
           .execute("DELETE FROM state WHERE name = 'vectors_format'"));
  backfill();
  ASSERT_THAT(lines(), SizeIs(2));
  for (const std::string& line : lines()) expect_foreign_schema(line);
}

TEST_P(VectorFiles, LoseLinesOfOthersWhoseThreadIsGoneAndCountThem) {
  const Manifest stays = thread_with({"one"});
  const auto foreign = [](const std::string& thread) {
    return "{\"threadId\":\"" + thread +
           "\",\"messageIndex\":0,\"role\":\"user\",\"text\":\"x\",\"embedding\":[0.5],"
           "\"timestamp\":\"2026-01-01T00:00:00.000Z\"}\n";
  };
  std::filesystem::create_directories(file().parent_path());
  std::ofstream(file()) << foreign("ffffffffffff") << foreign(stays.id.str())
                        << foreign("eeeeeeeeeeee") << "{\"someone\":\"else\"}\n";
  EXPECT_EQ(backfill().cleaned, 2U) << "without a model, too";
  EXPECT_THAT(lines(), SizeIs(2));
  EXPECT_EQ(backfill().cleaned, 0U);
  recall_ = open_recall(&embedder_);
  backfill();
  EXPECT_THAT(lines(), SizeIs(3));
}

TEST_P(VectorFiles, WithALineThatDoesNotEndAreRefusedByNameAndKept) {
  recall_ = open_recall(&embedder_);
  const Manifest gone = thread_with({"one"});
  backfill();
  constexpr std::uintmax_t kHuge = std::uintmax_t{3} << 30;  // every file system takes that
  std::filesystem::resize_file(file(), kHuge);
  EXPECT_TRUE(fails(recall().backfill({}), ErrorCode::kDamaged, {file().string(), "line exceeds"}));
  must(store().remove(gone.id));
  EXPECT_TRUE(fails(recall().backfill({}), ErrorCode::kDamaged, {file().string()}));
  EXPECT_EQ(std::filesystem::file_size(file()), kHuge);
}

TEST_P(VectorFiles, LoseTheLinesOfAThreadThatIsForgottenAtOnce) {
  recall_ = open_recall(&embedder_);
  const Manifest gone = thread_with({"one", "two"});
  const Manifest stays = thread_with({"three"});
  backfill();
  must(recall().forget_threads({gone.id}));
  EXPECT_THAT(lines(), SizeIs(3)) << "it is still there";
  must(store().remove(gone.id));
  must(recall().forget_threads({gone.id}));
  ASSERT_THAT(lines(), SizeIs(1));
  EXPECT_THAT(lines()[0], testing::HasSubstr(stays.id.str()));
  EXPECT_EQ(must(recall().status()).messages, 1U);
  EXPECT_EQ(must(recall().status()).with_vectors, 1U);
  must_append(store(), stays.id, message("four"));
  backfill();
  EXPECT_THAT(lines(), SizeIs(2));
}

// Other lines are not parsed and their threads not looked up: what they lack, a backfill finds.
TEST_P(VectorFiles, LoseOnlyTheLinesOfTheThreadsThatAreForgotten) {
  const auto foreign = [](const std::string& member) {
    return "{" + member + ",\"text\":\"\\\"threadId\\\":\\\"aaaaaaaaaaaa\\\"\"}\n";
  };
  std::filesystem::create_directories(file().parent_path());
  std::ofstream(file()) << foreign(R"("threadId":"ffffffffffff")")
                        << foreign(R"("threadId" : "eeeeeeeeeeee")")
                        << foreign(R"("threadId":"dddddddddddd")")
                        << foreign(R"("reply":"threadId","threadId":"cccccccccccc")");
  const auto id = [](const char* text) { return must(ThreadId::parse(text)); };
  must(recall().forget_threads({id("eeeeeeeeeeee"), id("aaaaaaaaaaaa"), id("cccccccccccc")}));
  EXPECT_THAT(lines(), testing::ElementsAre(testing::HasSubstr("ffffffffffff"),
                                            testing::HasSubstr("dddddddddddd")));
  EXPECT_EQ(backfill().cleaned, 2U);
}

TEST_P(VectorFiles, LoseTheLinesOfARemovedThreadAsTheFeedTells) {
  recall_ = open_recall(&embedder_);
  const Manifest gone = thread_with({"one", "two"});
  thread_with({"three"});
  backfill();
  must(store().remove(gone.id));
  must(recall().index_new({}));
  EXPECT_THAT(lines(), SizeIs(1));
}

}  // namespace
}  // namespace skein::test
