#include "core/redact.h"

#include <gtest/gtest.h>

#include <string>

namespace skein {
namespace {

std::string redacted(std::string text) {
  redact_text(text);
  return text;
}

// Put together at run time, so that no scanner takes this file for a leak.
std::string joined(std::string_view prefix, std::string_view body) {
  return std::string(prefix).append(body);
}

const std::string kBody48 = "T3BlbkFJq7Zx1vLm9Rt2Yw8Kc5Nd0Hs4Gb6Ue3Pa7Qi1Xo2W";
const std::string kBody36 = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";

TEST(Redact, ReplacesEveryKnownKindByItsName) {
  EXPECT_EQ(redacted(joined("sk-", kBody48)), "[redacted:api-key]");
  EXPECT_EQ(redacted(joined("sk-proj-", kBody48 + "_x-9")), "[redacted:api-key]");
  EXPECT_EQ(redacted(joined("sk-ant-api03-", kBody48)), "[redacted:anthropic-key]");
  EXPECT_EQ(redacted(joined("ghp_", kBody36)), "[redacted:github-token]");
  EXPECT_EQ(redacted(joined("gho_", kBody36)), "[redacted:github-token]");
  EXPECT_EQ(redacted(joined("github_pat_", kBody36 + "_" + kBody36)), "[redacted:github-token]");
  EXPECT_EQ(redacted(joined("xoxb-", "123456789012-abcdefGHIJKL")), "[redacted:slack-token]");
  EXPECT_EQ(redacted(joined("AKIA", "J3XQ7R2MNW4KZ5TP")), "[redacted:aws-key]");
  EXPECT_EQ(redacted(joined("AIza", "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6q")),
            "[redacted:google-key]");
  EXPECT_EQ(
      redacted(joined("eyJhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0NTY3ODkwIn0.dBjftJeZ4CVP-mB92K")),
      "[redacted:jwt]");
}

TEST(Redact, KeepsWhatStandsAroundASecret) {
  EXPECT_EQ(redacted("key=" + joined("sk-", kBody48) + ", keep it"),
            "key=[redacted:api-key], keep it");
  EXPECT_EQ(redacted("(" + joined("ghp_", kBody36) + ")\n" + joined("ghp_", kBody36) + "."),
            "([redacted:github-token])\n[redacted:github-token].");
}

TEST(Redact, TakesTheTokenOutOfAnAuthorizationHeaderAndLeavesTheHeader) {
  EXPECT_EQ(redacted("Authorization: Bearer " + kBody48 + "\r\nAccept: */*"),
            "Authorization: Bearer [redacted:bearer-token]\r\nAccept: */*");
  EXPECT_EQ(redacted("-H 'authorization: bearer " + joined("sk-", kBody48) + "'"),
            "-H 'authorization: bearer [redacted:api-key]'");
}

TEST(Redact, TakesOutPrivateKeysWholeOrCutOff) {
  const std::string begin = joined("-----BEGIN RSA ", "PRIVATE KEY-----");
  const std::string end = joined("-----END RSA ", "PRIVATE KEY-----");
  const std::string lines = "\nMIIEow" + kBody48 + "\n" + kBody48 + "==\n";
  EXPECT_EQ(redacted("before\n" + begin + lines + end + "\nafter"),
            "before\n[redacted:private-key]\nafter");
  EXPECT_EQ(redacted(begin + lines), "[redacted:private-key]");
}

TEST(Redact, LeavesTextThatOnlyResemblesSecrets) {
  for (const char* text : {
           "sk-learn is a library; so is scikit-learn-contrib-2",
           "sk-circle-fade-dot-animation-container-v2",
           "task-0123456789abcdef0123456789abcdef",
           "risk-a1b2c3d4e5f6a7b8c9d0e1f2",
           "sk-short1",
           "ghp_short",
           "ghp_ and github_pat_ are prefixes",
           "ghx_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
           "xoxb-example",
           "AKIA",
           "AKIAJ3XQ7R2MNW4KZ5TPLONGERTHANAKEY1",
           "ASIANDEVELOPMENTBANKS",
           "AIzawa is a name",
           "eyJ is how base64 of JSON begins, as in eyJhbGciOiJIUzI1NiJ9",
           "Authorization: Bearer <token>",
           "Authorization: Bearer YOUR_API_KEY_GOES_HERE",
           "the bearer of responsibilities-and-other-long-words",
           "-----BEGIN PRIVATE KEY----- is how such a file begins",
           "-----BEGIN CERTIFICATE-----\nMIIEowa1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
           "a1b2c3d4e5f6",
           "00000000-0000-4000-8000-a1b2c3d4e5f6",
           "3f786850e387550fdab836ed7e6dc881de23001b",
           "",
       }) {
    EXPECT_EQ(redacted(text), text);
  }
}

TEST(Redact, ChangesNothingWhenDoneAgain) {
  const std::string once = redacted("Bearer " + kBody48 + " and " + joined("ghp_", kBody36));
  EXPECT_EQ(redacted(once), once);
}

TEST(Redact, LooksIntoEveryStringOfJsonAndKeepsItValid) {
  std::string json = R"({"a":["x\n)" + joined("sk-", kBody48) +
                     R"(",1.50],"h":{"Authorization":"Bearer )" + kBody48 +
                     R"("},"quote\"":"\u00e9"})";
  EXPECT_EQ(redact_json(json), 2u);
  EXPECT_EQ(
      json,
      R"({"a":["x\n[redacted:api-key]",1.50],"h":{"Authorization":"Bearer [redacted:bearer-token]"},"quote\"":"\u00e9"})");
}

TEST(Redact, LeavesJsonWithoutSecretsAsItIs) {
  const std::string json = R"( {"a" : "b\"sk-", "n":1e3} )";
  std::string copy = json;
  EXPECT_EQ(redact_json(copy), 0u);
  EXPECT_EQ(copy, json);
}

}  // namespace
}  // namespace skein
