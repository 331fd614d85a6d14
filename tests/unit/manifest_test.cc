#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "skein/limits.h"
#include "store/checks.h"
#include "store/codec.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {
namespace {

constexpr std::string_view kFull =
    R"({"agentId":"a","sessionId":"s","taskId":"t","title":"T","createdAt":"2026-01-01T00:00:00.000Z",)"
    R"("updatedAt":"2026-01-02T00:00:00.000Z","status":"closed","metadata":{"m":1},)"
    R"("closedAt":"2026-01-02T00:00:00.000Z","summary":"S","resolution":"R",)"
    R"("archive":{"at":"2026-01-03T00:00:00.000Z","retentionDays":30,"reason":"old"},)"
    R"("parent":{"threadId":"0123456789ab","seq":7},"alias":"6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5b",)"
    R"("pins":[3,1],"channel":"telegram","big":12345678901234567890123})";

std::string written(const Manifest& manifest) {
  std::string out;
  append_manifest_open(out, manifest);
  return out + "}";
}

Manifest base() {
  return must(read_manifest(R"({"agentId":"a","createdAt":"2026-01-01T00:00:00Z"})"));
}

TEST(ManifestText, RoundTripsWithEveryField) {
  Manifest manifest = must(read_manifest(kFull));
  EXPECT_EQ(written(manifest), kFull);
  manifest.id = must(ThreadId::parse("a1b2c3d4e5f6"));
  const std::string whole = R"({"threadId":"a1b2c3d4e5f6",)" + std::string(kFull.substr(1));
  EXPECT_EQ(whole_json(manifest), whole);
  std::string shown = whole;
  shown.erase(shown.find(R"("channel")"), std::string_view(R"("channel":"telegram",)").size());
  EXPECT_EQ(to_json(manifest), shown) << "what no frontend shows";
  EXPECT_EQ(shown_extra(manifest).text(), R"({"big":12345678901234567890123})");
}

TEST(ManifestText, MayDoWithoutAnAgentWhereTheFolderSaysIt) {
  const std::string_view text = R"({"createdAt":"2026-01-01T00:00:00Z"})";
  EXPECT_EQ(must(read_manifest(text, {}, AgentField::kOptional)).agent_id, "");
  EXPECT_TRUE(fails(read_manifest(R"({"agentId":"","createdAt":"2026-01-01T00:00:00Z"})", {},
                                  AgentField::kOptional),
                    ErrorCode::kDamaged));
}

TEST(ManifestText, LeavesOutWhatIsNotSet) {
  EXPECT_EQ(written(base()), R"({"agentId":"a","createdAt":"2026-01-01T00:00:00.000Z",)"
                             R"("updatedAt":"2026-01-01T00:00:00.000Z"})");
}

TEST(ManifestText, SkipsTheFieldsThatTheStoreAdded) {
  const Manifest manifest = must(read_manifest(
      R"({"agentId":"a","createdAt":"2026-01-01T00:00:00Z","rev":4,"x":1})", {"rev"}));
  EXPECT_EQ(manifest.extra.text(), R"({"x":1})");
}

TEST(ManifestText, IsDamagedWhenItBreaksTheSchema) {
  for (
      const std::string_view bad :
      {"", "[]", "{}", "{", R"({"agentId":"a"})", R"({"createdAt":"2026-01-01T00:00:00Z"})",
       R"({"agentId":"../a","createdAt":"2026-01-01T00:00:00Z"})",
       R"({"agentId":7,"createdAt":"2026-01-01T00:00:00Z"})",
       R"({"agentId":"a","createdAt":"soon"})", R"({"agentId":"a","createdAt":null})",
       R"({"agentId":"a","createdAt":"2026-01-01T00:00:00Z","title":[]})",
       R"({"agentId":"a","createdAt":"2026-01-01T00:00:00Z","status":"open"})",
       R"({"agentId":"a","createdAt":"2026-01-01T00:00:00Z","parent":{"threadId":"x","seq":1}})"}) {
    EXPECT_TRUE(fails(read_manifest(bad), ErrorCode::kDamaged)) << bad;
  }
}

TEST(ManifestText, TakesNullForAbsentAndTheLastOfRepeatedNames) {
  const Manifest manifest = must(read_manifest(
      R"({"agentId":"a","createdAt":"2026-01-01T00:00:00Z","title":null,"x":1,"summary":"s","x":2,)"
      R"("summary":"t"})"));
  EXPECT_FALSE(manifest.title.has_value());
  EXPECT_EQ(manifest.summary, "t");
  EXPECT_EQ(manifest.extra.text(), R"({"x":2})");
}

TEST(Patches, ChangeOnlyWhatTheyNameAndSayWhetherTheyDid) {
  Manifest manifest = must(read_manifest(kFull));
  EXPECT_FALSE(must(apply_update(manifest, patch("{}"), {})));
  EXPECT_FALSE(must(apply_update(
      manifest,
      patch(R"({"title":"T","metadata":{ "m" : 1.0 },"pins":[3, 1],"channel":"telegram"})"), {})));
  EXPECT_EQ(written(manifest), kFull);
  EXPECT_TRUE(must(apply_update(manifest, patch(R"({"pins":[1,3]})"), {})));
  EXPECT_THAT(manifest.pins, testing::ElementsAre(1, 3));
  EXPECT_TRUE(must(apply_update(manifest, patch(R"({"channel":null,"new":[]})"), {})));
  EXPECT_EQ(manifest.extra.text(), R"({"big":12345678901234567890123,"new":[]})");
}

TEST(Patches, LeaveTheManifestAloneWhenRefused) {
  Manifest manifest = must(read_manifest(kFull));
  for (const std::string_view bad :
       {R"({"title":"new","status":"gone"})", R"({"title":"new","agentId":"b"})",
        R"({"title":"new","rev":9})", R"({"title":"new","crc":9})", R"({"title":"new","":1})",
        R"({"title":"new","createdAt":"2026-01-01T00:00:00Z"})",
        R"({"title":"new","archive":{"retentionDays":1}})",
        R"({"title":"new","archive":{"at":"2026-01-01T00:00:00Z","retentionDays":-1}})",
        R"({"title":"new","archive":{"at":"2026-01-01T00:00:00Z","other":1}})",
        R"({"title":"new","pins":[0]})", R"({"title":"new","pins":[1,]})",
        R"({"title":"new","pins":[[1]]})"}) {
    const Result<ManifestPatch> parsed = ManifestPatch::parse(bad);
    if (parsed.has_value()) {
      EXPECT_TRUE(fails(apply_update(manifest, *parsed, {}), ErrorCode::kInvalid)) << bad;
    }
    EXPECT_EQ(written(manifest), kFull) << bad;
  }
}

TEST(Patches, NameTheFieldAndTheValueThatWereRefused) {
  Manifest manifest = base();
  EXPECT_TRUE(fails(apply_update(manifest, patch(R"({"title":17})"), {}), ErrorCode::kInvalid,
                    {"title", "string", "17"}));
  EXPECT_TRUE(fails(apply_update(manifest, patch(R"({"status":"gone"})"), {}), ErrorCode::kInvalid,
                    {"status", "gone"}));
  EXPECT_TRUE(fails(apply_update(manifest, patch(R"({"agentId":"b"})"), {}), ErrorCode::kInvalid,
                    {"agentId"}));
  EXPECT_TRUE(fails(apply_update(manifest, patch(R"({"pins":["x"]})"), {}), ErrorCode::kInvalid,
                    {"pins", "x"}));
}

TEST(Patches, AreRefusedWhenTheyAreNoObject) {
  for (const std::string_view bad : {"", "[]", "null", "{", "\"x\""}) {
    EXPECT_TRUE(fails(ManifestPatch::parse(bad), ErrorCode::kInvalid)) << bad;
  }
  EXPECT_TRUE(fails(ManifestPatch::parse(std::string(limits::kMaxManifestBytes + 1, ' ')),
                    ErrorCode::kInvalid, {std::to_string(limits::kMaxManifestBytes)}));
}

TEST(Patches, WithValuesThatAreNoJsonAreRefused) {
  Manifest manifest = base();
  for (const std::string_view bad : {"{", "1 2", "\"\xff\"", "\"\\ud800\"", "x", "1}"}) {
    ManifestPatch patch;
    patch.set("field", Json::trusted(std::string(bad)));
    EXPECT_TRUE(fails(apply_update(manifest, patch, {}), ErrorCode::kInvalid)) << bad;
  }
}

TEST(Statuses, HaveNames) {
  for (const ThreadStatus status : {ThreadStatus::kActive, ThreadStatus::kPaused,
                                    ThreadStatus::kClosed, ThreadStatus::kArchived}) {
    EXPECT_EQ(must(parse_status(to_string(status))), status);
  }
  EXPECT_TRUE(fails(parse_status("Active"), ErrorCode::kInvalid, {"Active"}));
}

}  // namespace
}  // namespace skein::test
