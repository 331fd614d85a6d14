#include "skein/ids.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/expect.h"

namespace skein::test {
namespace {

using namespace std::string_literals;

TEST(ThreadIds, AreTwelveLowercaseHexDigits) {
  for (const std::string_view text : {"000000000000", "ffffffffffff", "a1b2c3d4e5f6"}) {
    EXPECT_EQ(must(ThreadId::parse(text)).str(), text);
  }
  for (const std::string& bad :
       {""s, "a1b2c3d4e5f"s, "a1b2c3d4e5f67"s, "A1b2c3d4e5f6"s, "g1b2c3d4e5f6"s, "a1b2c3d4e5f6\n"s,
        " a1b2c3d4e5f"s, "a1b2c3d4e5\0f"s, "../../../etc"s, "a1b2-c3d4-e5"s, "-00000000001"s,
        "0x0000000001"s, "１２３４"s, std::string(1 << 20, 'a')}) {
    EXPECT_TRUE(fails(ThreadId::parse(bad), ErrorCode::kInvalid, {"[a-f0-9]{12}"}));
  }
  EXPECT_TRUE(fails(ThreadId::parse("Nope"), ErrorCode::kInvalid, {"Nope"}));
}

TEST(ThreadIds, KeepFortyEightBits) {
  EXPECT_EQ(ThreadId::from_bits(0xFFFF'0123'4567'89AB).str(), "0123456789ab");
  EXPECT_EQ(ThreadId::from_bits(0x0123456789ab).bits(), 0x0123456789abU);
  EXPECT_LT(ThreadId::from_bits(1), ThreadId::from_bits(2));
  EXPECT_EQ(ThreadId(), ThreadId::from_bits(0));
}

TEST(ThreadIds, HaveAUuidForm) {
  const ThreadId id = must(ThreadId::parse("a1b2c3d4e5f6"));
  EXPECT_EQ(id.uuid(), "00000000-0000-4000-8000-a1b2c3d4e5f6");
  EXPECT_EQ(must(ThreadRef::parse(id.uuid())).id(), id);
  EXPECT_EQ(must(ThreadRef::parse("00000000-0000-4000-8000-A1B2C3D4E5F6")).id(), id);
}

TEST(ThreadRefs, AreAnIdOrAnAlias) {
  EXPECT_EQ(must(ThreadRef::parse("a1b2c3d4e5f6")).str(), "a1b2c3d4e5f6");
  const ThreadRef alias = must(ThreadRef::parse("6F1C2F0E-9A57-4B0E-8F5E-0C1D2E3F4A5B"));
  EXPECT_FALSE(alias.id().has_value());
  EXPECT_EQ(alias.alias(), "6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5b");
  EXPECT_EQ(alias.str(), alias.alias());
  for (const std::string_view bad :
       {"", "me", "6f1c2f0e9a574b0e8f5e0c1d2e3f4a5b", "6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5",
        "6f1c2f0e-9a57-4b0e-8f5e_0c1d2e3f4a5b", "6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5g"}) {
    EXPECT_TRUE(fails(ThreadRef::parse(bad), ErrorCode::kInvalid)) << bad;
  }
}

TEST(Aliases, AreUuidsThatAreNoFormOfAnId) {
  EXPECT_EQ(must(check_alias("6F1C2F0E-9A57-4B0E-8F5E-0C1D2E3F4A5B")),
            "6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5b");
  EXPECT_TRUE(fails(check_alias("00000000-0000-4000-8000-a1b2c3d4e5f6"), ErrorCode::kInvalid));
  EXPECT_TRUE(ok(check_alias("00000000-0000-4000-8001-a1b2c3d4e5f6")));
  EXPECT_TRUE(fails(check_alias("a1b2c3d4e5f6"), ErrorCode::kInvalid));
}

TEST(AgentIds, MatchTheirPattern) {
  for (const std::string& good :
       {"a"s, "A"s, "0"s, "_"s, "-"s, "a.b"s, "a..b"s, "a."s, std::string(64, 'x')}) {
    EXPECT_TRUE(ok(check_agent_id(good))) << good;
  }
  for (const std::string& bad : {""s, "."s, ".."s, ".a"s, "a/b"s, "a\\b"s, "a b"s, "a\0"s, "ä"s,
                                 "usage.jsonl"s, std::string(65, 'x')}) {
    EXPECT_TRUE(fails(check_agent_id(bad), ErrorCode::kInvalid, {"agent id"})) << bad;
  }
}

TEST(RandomIds, DoNotRepeat) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random_ids().next());
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(ErrorCodes, HaveNames) {
  EXPECT_STREQ(to_string(ErrorCode::kInvalid), "invalid");
  EXPECT_STREQ(to_string(ErrorCode::kNotFound), "not_found");
  EXPECT_STREQ(to_string(ErrorCode::kConflict), "conflict");
  EXPECT_STREQ(to_string(ErrorCode::kBusy), "busy");
  EXPECT_STREQ(to_string(ErrorCode::kFenced), "fenced");
  EXPECT_STREQ(to_string(ErrorCode::kDamaged), "damaged");
  EXPECT_STREQ(to_string(ErrorCode::kIo), "io");
}

}  // namespace
}  // namespace skein::test
