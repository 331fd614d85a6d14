// The models that run here, on the real weights and the real ONNX Runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "core/base64.h"
#include "recall/embedding/model_files.h"
#include "recall/embedding/onnx_session.h"
#include "skein/embedder.h"
#include "support/expect.h"
#include "support/git_sandbox.h"
#include "support/node_script.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kBge = "bge-small-en-v1.5";
constexpr const char* kMiniLm = "all-MiniLM-L6-v2";

std::unique_ptr<Embedder> open_model(const std::string& name, std::size_t threads = 1) {
  LocalEmbedderOptions options;
  options.model = name;
  options.threads = threads;
  return must(open_local_embedder(options));
}

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

struct Reference {
  std::string text;
  EmbedKind kind;
  Vector vector;
};

std::vector<Reference> references(const char* model) {
  std::vector<Reference> all;
  for (const auto& line :
       lines_of(get_file(SKEIN_SOURCE_DIR "/tests/fixtures/reference_vectors.jsonl"))) {
    const boost::json::object entry = boost::json::parse(line).as_object();
    if (!entry.contains(model)) continue;
    const std::string bytes = decode_base64(entry.at(model).as_string()).value();
    Reference reference{
        .text = std::string(entry.at("text").as_string()),
        .kind = entry.at("kind").as_string() == "query" ? EmbedKind::kQuery : EmbedKind::kPassage,
        .vector = {}};
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
      const auto low = static_cast<unsigned char>(bytes[i]);
      const auto high = static_cast<unsigned char>(bytes[i + 1]);
      reference.vector.push_back(static_cast<float>(static_cast<std::int16_t>(low | high << 8)));
    }
    const double length = std::sqrt(dot(reference.vector, reference.vector));
    for (float& value : reference.vector) value = static_cast<float>(value / length);
    all.push_back(std::move(reference));
  }
  return all;
}

void expect_reference_vectors(const char* key, const char* model, std::size_t at_least) {
  const auto embedder = open_model(model);
  const std::vector<Reference> all = references(key);
  EXPECT_GE(all.size(), at_least);
  double least = 1;
  for (const Reference& reference : all) {
    const Vector vector = must(embedder->embed_one(reference.text, reference.kind));
    ASSERT_THAT(vector, SizeIs(embedder->dimensions()));
    EXPECT_NEAR(dot(vector, vector), 1, 1e-5);
    const double cosine = dot(vector, reference.vector);
    EXPECT_GT(cosine, 0.999) << reference.text;
    least = std::min(least, cosine);
  }
  testing::Test::RecordProperty("least_cosine", std::to_string(least));
}

TEST(LocalEmbedder, GivesTheReferenceVectorsOfBgeSmall) {
  expect_reference_vectors("bge", kBge, 200);
}

TEST(LocalEmbedder, GivesTheReferenceVectorsOfMiniLm) {
  expect_reference_vectors("minilm", kMiniLm, 60);
}

TEST(LocalEmbedder, FindsTheAnswerToAQuestion) {
  for (const char* model : {kBge, kMiniLm}) {
    const auto embedder = open_model(model);
    const std::vector<std::string> passages = {
        "The invoice was paid on Friday.", "We adopted a kitten and called her Miso.",
        "The build takes eleven minutes on the old machine."};
    const auto vectors = must(embedder->embed(passages, EmbedKind::kPassage));
    const Vector question = must(embedder->embed_one("What pet do you have?", EmbedKind::kQuery));
    EXPECT_GT(dot(question, vectors[1]), dot(question, vectors[0])) << model;
    EXPECT_GT(dot(question, vectors[1]), dot(question, vectors[2])) << model;
  }
}

TEST(LocalEmbedder, GivesTheSameVectorsAloneTogetherAndOnAnyThread) {
  std::vector<std::string> texts;
  for (const Reference& reference : references("bge")) texts.push_back(reference.text);
  texts.resize(24);
  const auto alone = open_model(kBge);
  std::vector<Vector> expected;
  for (const std::string& text : texts) {
    expected.push_back(must(alone->embed_one(text, EmbedKind::kPassage)));
  }
  EXPECT_EQ(must(alone->embed(texts, EmbedKind::kPassage)), expected);

  const auto shared = open_model(kBge, 3);
  std::vector<std::jthread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back(
        [&] { EXPECT_EQ(must(shared->embed(texts, EmbedKind::kPassage)), expected); });
  }
  callers.clear();
  EXPECT_GT(shared->model_time().count(), 0);
}

TEST(LocalEmbedder, EmbedsTextsOfAnyKindAndLength) {
  const auto embedder = open_model(kBge);
  const std::vector<std::string> texts = {
      "", " ", "\x01", "漢字", std::string(3 << 20, 'a'), std::string(1 << 20, '!')};
  const auto vectors = must(embedder->embed(texts, EmbedKind::kPassage));
  ASSERT_THAT(vectors, SizeIs(texts.size()));
  for (const Vector& vector : vectors) EXPECT_NEAR(dot(vector, vector), 1, 1e-5);
  EXPECT_EQ(vectors[0], vectors[1]);
  EXPECT_THAT(must(embedder->embed({}, EmbedKind::kQuery)), IsEmpty());
}

TEST(LocalEmbedder, RefusesWhatIsBeyondALimitOrNotUtf8) {
  const auto embedder = open_model(kBge);
  const std::vector<std::string> many(limits::kMaxEmbedTexts + 1);
  EXPECT_TRUE(fails(embedder->embed(many, EmbedKind::kPassage), ErrorCode::kInvalid, {"10000"}));
  EXPECT_TRUE(
      fails(embedder->embed_one("a\xff", EmbedKind::kQuery), ErrorCode::kInvalid, {"UTF-8"}));
  LocalEmbedderOptions options;
  options.threads = 0;
  EXPECT_TRUE(fails(open_local_embedder(options), ErrorCode::kInvalid, {"threads", "0"}));
  options.threads = limits::kMaxEmbedThreads + 1;
  EXPECT_TRUE(fails(open_local_embedder(options), ErrorCode::kInvalid, {"65"}));
  options.threads = 1;
  options.model = "gpt";
  EXPECT_TRUE(fails(open_local_embedder(options), ErrorCode::kInvalid, {kBge, kMiniLm, "gpt"}));
}

TEST(LocalEmbedder, NamesModelWeightsAndDimensions) {
  EXPECT_EQ(open_model(kBge)->model(), "bge-small-en-v1.5/6c9c6101a956d62d/384");
  EXPECT_EQ(open_model(kMiniLm)->model(), "all-MiniLM-L6-v2/afdb6f1a0e45b715/384");
}

// A folder of models of the test's own, with the real files behind links.
class ModelFolder : public testing::Test {
 protected:
  ModelFolder() {
    for (const KnownModel& model : known_models()) {
      const ModelFiles files = must(find_model_files(model, {}));
      const fs::path folder = folder_of(model.name);
      fs::create_directories(folder / "onnx");
      fs::create_symlink(files.weights, folder / "onnx/model_quantized.onnx");
      fs::create_symlink(files.tokenizer, folder / "tokenizer.json");
    }
    options_.local.models_folder = folder_.path().string();
  }

  fs::path folder_of(std::string_view model) const { return folder_.path() / model; }
  fs::path weights_of(std::string_view model) const {
    return folder_of(model) / "onnx/model_quantized.onnx";
  }
  void damage(const fs::path& path) const {
    std::string bytes = get_file(path);
    bytes[bytes.size() / 2] ^= 1;
    fs::remove(path);
    put_file(path, bytes);
  }

  TempDir folder_;
  EmbedderOptions options_;
};

TEST_F(ModelFolder, IsUsedWhereItIsNamed) {
  auto opened = must(open_embedder("auto", options_));
  ASSERT_NE(opened.embedder, nullptr);
  EXPECT_THAT(opened.notes, IsEmpty());
  EXPECT_THAT(opened.embedder->model(), HasSubstr(kBge));
  EXPECT_TRUE(ok(opened.embedder->embed_one("hello", EmbedKind::kQuery)));
}

TEST_F(ModelFolder, WithADamagedModelFallsBackAndSaysSo) {
  damage(weights_of(kBge));
  auto opened = must(open_embedder("auto", options_));
  ASSERT_NE(opened.embedder, nullptr);
  EXPECT_THAT(opened.embedder->model(), HasSubstr(kMiniLm));
  ASSERT_THAT(opened.notes, SizeIs(2));
  EXPECT_THAT(opened.notes[0], HasSubstr(weights_of(kBge).string()));
  EXPECT_THAT(opened.notes[0], HasSubstr("6c9c6101a956d62dfb5e7190c538226c"));
  EXPECT_THAT(opened.notes[1], HasSubstr(kMiniLm));

  fs::remove(folder_of(kMiniLm) / "tokenizer.json");
  opened = must(open_embedder("auto", options_));
  EXPECT_EQ(opened.embedder, nullptr);
  ASSERT_THAT(opened.notes, SizeIs(3));
  EXPECT_THAT(opened.notes[1], HasSubstr("tokenizer.json"));
  EXPECT_THAT(opened.notes[2], HasSubstr("words alone"));
}

TEST_F(ModelFolder, WithADamagedFileFailsAtFirstUseAndWorksOnceItIsMended) {
  const fs::path tokenizer = folder_of(kBge) / "tokenizer.json";
  const std::string good = get_file(tokenizer);
  damage(tokenizer);
  const auto opened = must(open_embedder("bge-small", options_));
  EXPECT_TRUE(fails(opened.embedder->embed_one("hello", EmbedKind::kQuery), ErrorCode::kDamaged,
                    {tokenizer.string(), "d241a60d5e8f04cc", "tools/setup"}));
  put_file(tokenizer, good);
  EXPECT_TRUE(ok(opened.embedder->embed_one("hello", EmbedKind::kQuery)));
}

TEST_F(ModelFolder, WithoutAFileIsRefusedByName) {
  fs::remove(weights_of(kMiniLm));
  EXPECT_TRUE(fails(open_embedder("minilm", options_), ErrorCode::kNotFound,
                    {weights_of(kMiniLm).string(), "tools/setup"}));
  const auto opened = must(open_embedder("bge-small", options_));
  fs::remove(weights_of(kBge));
  EXPECT_TRUE(fails(opened.embedder->embed_one("hello", EmbedKind::kQuery), ErrorCode::kNotFound,
                    {weights_of(kBge).string()}));
}

TEST_F(ModelFolder, WithoutARuntimeSaysWhatIsMissing) {
  options_.local.runtime = (folder_.path() / "libonnxruntime.so").string();
  EXPECT_TRUE(
      fails(open_embedder("bge-small", options_), ErrorCode::kNotFound, {options_.local.runtime}));
  put_file(options_.local.runtime, "not a library");
  const auto opened = must(open_embedder("bge-small", options_));
  EXPECT_TRUE(fails(opened.embedder->embed_one("hello", EmbedKind::kQuery), ErrorCode::kIo,
                    {"ONNX Runtime", options_.local.runtime}));
}

TEST(OnnxRuntime, OfVersionsThatReportHomeIsKnown) {
  for (const char* version : {"1.29.0", "1.30.0", "1.100", "2.0.0"}) {
    EXPECT_TRUE(OnnxSession::reports_home(version)) << version;
  }
  for (const char* version : {"1.17.0", "1.27.0", "1.28.1", "1", "", "x", "0.30"}) {
    EXPECT_FALSE(OnnxSession::reports_home(version)) << version;
  }
}

TEST(Choices, OfNoEmbedderGiveNone) {
  const auto opened = must(open_embedder("none"));
  EXPECT_EQ(opened.embedder, nullptr);
  EXPECT_THAT(opened.notes, IsEmpty());
}

TEST(Choices, ThatAreUnknownAreRefusedWithTheKnownOnes) {
  for (const std::string_view choice : {"", "Auto", "openai:", "openai:http://localhost", "gpt"}) {
    EXPECT_TRUE(fails(open_embedder(choice), ErrorCode::kInvalid,
                      {"auto", "none", "bge-small", "minilm", "openai:URL#MODEL"}));
  }
}

// A clone could bring a library along. Each test has a process of its own.
TEST(Runtimes, AreNotLookedForInTheWorkingFolder) {
  for (const char* folders : {":/opt/lib", "/opt/lib:", "/opt/lib::/lib", "lib", "/opt/lib;."}) {
    ASSERT_EQ(setenv("LD_LIBRARY_PATH", folders, 1), 0);
    const auto found = find_runtimes({});
    if (!found) {
      EXPECT_TRUE(fails(found, ErrorCode::kNotFound, {"LD_LIBRARY_PATH"})) << folders;
      continue;
    }
    for (const std::string& path : *found) EXPECT_TRUE(path.starts_with('/')) << folders << path;
  }
  unsetenv("LD_LIBRARY_PATH");
}

// The two variables, and no cache: each test has a process of its own.
TEST_F(ModelFolder, IsFoundByVariablesOfTheEnvironment) {
  LocalEmbedderOptions defaults;
  const std::string runtime = must(find_runtimes(defaults)).back();
  ASSERT_EQ(setenv("XDG_CACHE_HOME", (folder_.path() / "cache").c_str(), 1), 0);
  EXPECT_TRUE(fails(open_embedder("bge-small"), ErrorCode::kNotFound, {"SKEIN_MODELS"}));
  const auto none = must(open_embedder("auto"));
  EXPECT_EQ(none.embedder, nullptr);
  EXPECT_THAT(none.notes, Contains(HasSubstr("words alone")));

  ASSERT_EQ(setenv("SKEIN_MODELS", folder_.path().c_str(), 1), 0);
  ASSERT_EQ(setenv("SKEIN_ONNXRUNTIME", runtime.c_str(), 1), 0);
  const auto opened = must(open_embedder("bge-small"));
  EXPECT_TRUE(ok(opened.embedder->embed_one("hello", EmbedKind::kQuery)));
  unsetenv("XDG_CACHE_HOME");
  unsetenv("SKEIN_MODELS");
  unsetenv("SKEIN_ONNXRUNTIME");
}

}  // namespace
}  // namespace skein::test
