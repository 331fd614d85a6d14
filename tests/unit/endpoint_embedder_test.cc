// Endpoints that speak OpenAI's /embeddings, imitated on loopback, faults included.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <deque>
#include <mutex>

#include "skein/embedder.h"
#include "support/expect.h"
#include "support/loopback_server.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using Connection = LoopbackServer::Connection;

constexpr const char* kKey = "sk-secret-0123456789";

// Answers as OpenAI does: for each text the vector (its length, its first byte, 1), not normalised,
// in reverse order. Before that, it answers with the faults that it was given, one a request.
class Endpoint {
 public:
  using Fault = std::function<void(Connection&)>;
  explicit Endpoint(std::deque<Fault> faults = {})
      : faults_(std::move(faults)), server_([this](Connection& peer) { serve(peer); }) {}

  EndpointEmbedderOptions options() const {
    EndpointEmbedderOptions options;
    options.url = server_.url() + "/v1";
    options.model = "tiny";
    options.dimensions = 3;
    options.first_wait = 1ms;
    options.timeout = 20s;
    return options;
  }
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve(Connection& peer) {
    for (std::string request; !(request = peer.read_request()).empty();) {
      Fault fault;
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
        if (!faults_.empty()) {
          fault = std::move(faults_.front());
          faults_.pop_front();
        }
      }
      if (fault) {
        fault(peer);
        return;
      }
      peer.answer(200, "application/json", answer_to(request));
    }
  }

  static std::string answer_to(const std::string& request) {
    const auto body = boost::json::parse(request.substr(request.find("\r\n\r\n") + 4));
    boost::json::array data;
    std::int64_t index = 0;
    for (const auto& input : body.at("input").as_array()) {
      const std::string text(input.as_string());
      data.insert(data.begin(),
                  boost::json::object{{"object", "embedding"},
                                      {"index", index++},
                                      {"embedding", {text.size(), text.empty() ? 0 : text[0], 1}}});
    }
    return boost::json::serialize(
        boost::json::object{{"object", "list"},
                            {"data", data},
                            {"model", body.at("model")},
                            {"usage", {{"prompt_tokens", 8}, {"total_tokens", 8}}}});
  }

  mutable std::mutex mutex_;
  std::deque<Fault> faults_;           // under mutex_
  std::vector<std::string> requests_;  // under mutex_
  LoopbackServer server_;
};

Endpoint::Fault says(int status, std::string body, std::string headers = {}) {
  return [=](Connection& peer) { peer.answer(status, "application/json", body, headers); };
}

// What one embedding of "a" comes to, with only one try.
Result<Vector> embed_with(const Endpoint::Fault& fault, std::size_t tries = 1) {
  const Endpoint endpoint({fault});
  EndpointEmbedderOptions options = endpoint.options();
  options.tries = tries;
  return must(open_endpoint_embedder(options))->embed_one("a", EmbedKind::kQuery);
}

TEST(EndpointEmbedder, GivesUnitVectorsInOrder) {
  const Endpoint endpoint;
  const auto embedder = must(open_endpoint_embedder(endpoint.options()));
  EXPECT_EQ(embedder->dimensions(), 3u);
  EXPECT_EQ(embedder->model(), "openai:" + endpoint.options().url + "#tiny/3");
  const std::vector<std::string> texts = {std::string(98, 'b'), "é", ""};
  const auto vectors = must(embedder->embed(texts, EmbedKind::kPassage));
  ASSERT_THAT(vectors, SizeIs(3));
  EXPECT_THAT(vectors[0], ElementsAre(FloatNear(0.7071f, 1e-3f), FloatNear(0.7071f, 1e-3f),
                                      FloatNear(0.0072f, 1e-3f)));
  EXPECT_GT(vectors[2][1], 0.9);  // an empty text is sent as a space
  const std::string request = endpoint.requests().at(0);
  EXPECT_THAT(request, testing::StartsWith("POST /v1/embeddings HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr(R"("model":"tiny","input":[")"));
  EXPECT_THAT(request, HasSubstr(R"("encoding_format":"float")"));
  EXPECT_GT(embedder->model_time().count(), 0);
}

TEST(EndpointEmbedder, AsksForTheDimensionsThatItIsNotTold) {
  const Endpoint endpoint;
  EndpointEmbedderOptions options = endpoint.options();
  options.dimensions = 0;
  options.url += "/";
  const auto embedder = must(open_endpoint_embedder(options));
  EXPECT_EQ(embedder->dimensions(), 3u);
  EXPECT_THAT(embedder->model(), testing::EndsWith("/v1#tiny/3"));
}

TEST(EndpointEmbedder, SendsManyTextsInBatchesAndLongOnesCut) {
  const Endpoint endpoint;
  EndpointEmbedderOptions options = endpoint.options();
  options.batch = 4;
  const auto embedder = must(open_endpoint_embedder(options));
  std::vector<std::string> texts;
  for (int i = 1; i <= 10; ++i) texts.emplace_back(static_cast<std::size_t>(i), 'x');
  EXPECT_THAT(must(embedder->embed(texts, EmbedKind::kPassage)), SizeIs(10));
  EXPECT_THAT(endpoint.requests(), SizeIs(3));

  options.batch = 1000;
  options.max_text_bytes = 7999;  // within a character
  texts.assign(100, std::string(4 << 10, '.'));
  for (std::string& text : texts) {
    while (text.size() < 9000) text += "é";
  }
  EXPECT_THAT(must(must(open_endpoint_embedder(options))->embed(texts, EmbedKind::kPassage)),
              SizeIs(100));
  const auto requests = endpoint.requests();
  EXPECT_GT(requests.size(), 5u);
  for (const std::string& request : requests) EXPECT_LT(request.size(), 400'000u);
}

TEST(EndpointEmbedder, SendsTheKeyOfTheEnvironmentAndNeverTellsIt) {
  ASSERT_EQ(setenv("SKEIN_TEST_KEY", kKey, 1), 0);
  const Endpoint endpoint({says(401, std::string(R"({"error": "wrong key )") + kKey + "\"}")});
  EndpointEmbedderOptions options = endpoint.options();
  options.key_variable = "SKEIN_TEST_KEY";
  const auto embedder = must(open_endpoint_embedder(options));
  const auto refused = embedder->embed_one("a", EmbedKind::kQuery);
  EXPECT_TRUE(fails(refused, ErrorCode::kIo, {"401", "/v1/embeddings", "[key]"}));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("sk-secret")));
  EXPECT_THAT(embedder->model(), Not(HasSubstr("sk-secret")));
  EXPECT_TRUE(ok(embedder->embed_one("a", EmbedKind::kQuery)));
  for (const std::string& request : endpoint.requests()) {
    EXPECT_THAT(request, HasSubstr(std::string("Authorization: Bearer ") + kKey + "\r\n"));
  }
  unsetenv("SKEIN_TEST_KEY");

  EXPECT_TRUE(fails(open_endpoint_embedder(options), ErrorCode::kInvalid, {"SKEIN_TEST_KEY"}));
}

TEST(EndpointEmbedder, SendsTheKeyOfOpenAiToNoOtherHost) {
  ASSERT_EQ(setenv("OPENAI_API_KEY", kKey, 1), 0);
  const Endpoint endpoint;
  const auto embedder = must(open_endpoint_embedder(endpoint.options()));
  EXPECT_TRUE(ok(embedder->embed_one("a", EmbedKind::kQuery)));
  const std::string url = endpoint.options().url;
  EXPECT_TRUE(ok(open_embedder("openai:" + url + "#tiny")));
  for (const std::string& request : endpoint.requests()) {
    EXPECT_THAT(request, Not(HasSubstr("Authorization")));
    EXPECT_THAT(request, Not(HasSubstr(kKey)));
  }
  EXPECT_TRUE(ok(open_embedder("openai:" + url + "?keyVariable=OPENAI_API_KEY#tiny")));
  EXPECT_THAT(endpoint.requests().back(), HasSubstr(std::string("Authorization: Bearer ") + kKey));
  unsetenv("OPENAI_API_KEY");
}

TEST(EndpointEmbedder, TakesTheNameOfAVariableAndNoOtherQuery) {
  EXPECT_TRUE(fails(open_embedder("openai:http://127.0.0.1:1/v1?keyVariable=#m"),
                    ErrorCode::kInvalid, {"keyVariable"}));
  const auto key = open_embedder("openai:http://127.0.0.1:1/v1?keyVariable=sk-secret#m");
  EXPECT_TRUE(fails(key, ErrorCode::kInvalid, {"keyVariable"}));
  EXPECT_THAT(key.error().message, Not(HasSubstr("sk-secret")));
  EXPECT_TRUE(fails(open_embedder("openai:http://127.0.0.1:1/v1?keyVariable=SKEIN_NOT_SET#m"),
                    ErrorCode::kInvalid, {"SKEIN_NOT_SET"}));
  EXPECT_TRUE(fails(open_embedder("openai:http://127.0.0.1:1/v1?x=y#m"), ErrorCode::kInvalid));
}

TEST(EndpointEmbedder, TriesAgainWhatMayPass) {
  const Endpoint endpoint({
      says(429, R"({"error": {"message": "slow down"}})", "Retry-After: 0\r\n"),
      says(503, "busy"),
      [](Connection& peer) {
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"data\": [");
      },
  });
  const auto embedder = must(open_endpoint_embedder(endpoint.options()));
  EXPECT_TRUE(ok(embedder->embed_one("a", EmbedKind::kQuery)));
  EXPECT_THAT(endpoint.requests(), SizeIs(4));
}

TEST(EndpointEmbedder, GivesUpAfterSoManyTries) {
  const auto fault = says(500, "the model crashed");
  const Endpoint endpoint({fault, fault, fault, fault, fault});
  EndpointEmbedderOptions options = endpoint.options();
  options.tries = 3;
  const auto embedder = must(open_endpoint_embedder(options));
  EXPECT_TRUE(fails(embedder->embed_one("a", EmbedKind::kQuery), ErrorCode::kIo,
                    {"500", "the model crashed", "3 times"}));
  EXPECT_THAT(endpoint.requests(), SizeIs(3));
}

TEST(EndpointEmbedder, DoesNotTryAgainWhatWillNotPass) {
  for (const int status : {400, 401, 404, 413}) {
    const Endpoint endpoint({says(status, "no")});
    const auto embedder = must(open_endpoint_embedder(endpoint.options()));
    EXPECT_TRUE(fails(embedder->embed_one("a", EmbedKind::kQuery), ErrorCode::kIo,
                      {std::to_string(status)}));
    EXPECT_THAT(endpoint.requests(), SizeIs(1));
  }
}

TEST(EndpointEmbedder, RefusesAnswersThatAreNotWhatWasAsked) {
  const auto refused = [](std::string body, std::initializer_list<std::string_view> mentions) {
    EXPECT_TRUE(fails(embed_with(says(200, body)), ErrorCode::kIo, mentions)) << body;
  };
  const std::string good = R"({"index": 0, "embedding": [1, 2, 3]})";
  refused("<html>", {"/v1/embeddings"});
  refused("", {"/v1/embeddings"});
  refused("[]", {"without data"});
  refused(R"({"data": {}})", {"without data"});
  refused(R"({"data": []})", {"0 vectors for 1 texts"});
  refused(R"({"data": [)" + good + ", " + good + "]}", {"2 vectors for 1 texts"});
  refused(R"({"data": [{"index": 1, "embedding": [1, 2, 3]}]})", {"index 1"});
  refused(R"({"data": [{"index": -1, "embedding": [1, 2, 3]}]})", {"index -1"});
  refused(R"({"data": [{"index": 0}]})", {"0 dimensions", "3"});
  refused(R"({"data": [{"index": 0, "embedding": [1, 2]}]})", {"2 dimensions", "3"});
  refused(R"({"data": [{"index": 0, "embedding": [1, 2, "x"]}]})", {"\"x\""});
  refused(R"({"data": [{"index": 0, "embedding": [0, 0, 0]}]})", {"length"});
  refused(R"({"data": ["x"]})", {"0 dimensions"});

  const Endpoint twice({says(200, R"({"data": [)" + good + ", " + good + "]}")});
  const std::vector<std::string> two = {"a", "b"};
  EXPECT_TRUE(fails(must(open_endpoint_embedder(twice.options()))->embed(two, EmbedKind::kQuery),
                    ErrorCode::kIo, {"index 0 twice"}));
}

TEST(EndpointEmbedder, OfAnEndpointThatIsCutOffSlowOrGoneFails) {
  EXPECT_TRUE(fails(embed_with([](Connection&) {}), ErrorCode::kIo, {"127.0.0.1"}));
  EXPECT_TRUE(fails(embed_with([](Connection& peer) {
                      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{");
                    }),
                    ErrorCode::kIo, {"127.0.0.1"}));

  const Endpoint slow({[](Connection& peer) { peer.wait_for_close(); }});
  EndpointEmbedderOptions options = slow.options();
  options.timeout = 50ms;
  options.tries = 1;
  EXPECT_TRUE(fails(must(open_endpoint_embedder(options))->embed_one("a", EmbedKind::kQuery),
                    ErrorCode::kIo, {"127.0.0.1"}));

  options.url = [] { return Endpoint().options().url; }();  // nobody listens there any more
  EXPECT_TRUE(fails(must(open_endpoint_embedder(options))->embed_one("a", EmbedKind::kQuery),
                    ErrorCode::kIo, {"127.0.0.1"}));
}

TEST(EndpointEmbedder, RefusesUrlsAndLimitsThatItCannotKeep) {
  const auto refused = [](auto change, std::initializer_list<std::string_view> mentions) {
    EndpointEmbedderOptions options;
    options.url = "http://127.0.0.1:9";
    options.model = "tiny";
    options.dimensions = 3;
    change(options);
    EXPECT_TRUE(fails(open_endpoint_embedder(options), ErrorCode::kInvalid, mentions));
  };
  refused([](auto& options) { options.url = "ftp://x"; }, {"http", "ftp://x"});
  refused([](auto& options) { options.url = ""; }, {"http"});
  refused([](auto& options) { options.url = "https://api.\u043epenai.com/v1"; }, {"punycode"});
  refused([](auto& options) { options.url = "http://x/?key=1"; }, {"?"});
  refused([](auto& options) { options.url = "http://x/" + std::string(300, 'y'); }, {"256"});
  refused([](auto& options) { options.model = ""; }, {"model"});
  refused([](auto& options) { options.model = std::string(201, 'm'); }, {"200"});
  refused([](auto& options) { options.batch = 0; }, {"texts", "0"});
  refused([](auto& options) { options.tries = 21; }, {"tries", "20"});
  refused([](auto& options) { options.max_text_bytes = 0; }, {"bytes", "0"});
  refused([](auto& options) { options.dimensions = 9000; }, {"8192", "9000"});

  const auto hidden = open_embedder("openai:http://me:secret@x/v1#tiny");
  EXPECT_TRUE(fails(hidden, ErrorCode::kInvalid, {"@"}));
  EXPECT_THAT(hidden.error().message, Not(HasSubstr("secret")));
}

TEST(EndpointEmbedder, IsChosenByItsUrlAndModel) {
  const Endpoint endpoint;
  const auto opened = must(open_embedder("openai:" + endpoint.options().url + "#tiny"));
  ASSERT_NE(opened.embedder, nullptr);
  EXPECT_EQ(opened.embedder->dimensions(), 3u);
}

}  // namespace
}  // namespace skein::test
