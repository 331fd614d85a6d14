#include "core/redact.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace skein {
namespace {

std::string redacted(std::string text) {
  Redactor().redact_text(text);
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

TEST(Redact, KnowsTokensByTheirPrefix) {
  const std::string long_body = kBody48 + kBody36;
  for (const auto& [prefix, kind] :
       std::vector<std::pair<std::string, std::string>>{{"glpat-", "gitlab-token"},
                                                        {"npm_", "npm-token"},
                                                        {"hf_", "huggingface-token"},
                                                        {"sk_live_", "stripe-key"},
                                                        {"rk_live_", "stripe-key"},
                                                        {"dop_v1_", "digitalocean-token"},
                                                        {"ya29.", "google-oauth-token"},
                                                        {"pypi-AgEI", "pypi-token"},
                                                        {"xapp-", "slack-token"},
                                                        {"gsk_", "api-key"},
                                                        {"xai-", "api-key"},
                                                        {"hvs.", "vault-token"},
                                                        {"lin_api_", "linear-key"},
                                                        {"shpat_", "shopify-token"},
                                                        {"SG.", "sendgrid-key"},
                                                        {"ntn_", "notion-token"},
                                                        {"tskey-", "tailscale-key"}}) {
    EXPECT_EQ(redacted("x " + joined(prefix, long_body) + " y"), "x [redacted:" + kind + "] y");
    EXPECT_EQ(redacted(prefix + "short"), prefix + "short");
  }
}

TEST(Redact, TakesThePasswordOutOfAUrl) {
  EXPECT_EQ(redacted("postgres://me:s3cret!@db.example.org:5432/x"),
            "postgres://me:[redacted:url-password]@db.example.org:5432/x");
  EXPECT_EQ(redacted("https://:tok:en@h redis://u:pass@h"),
            "https://:[redacted:url-password]@h redis://u:[redacted:url-password]@h");
  EXPECT_EQ(redacted("https://me:" + joined("ghp_", kBody36) + "@github.com/a/b"),
            "https://me:[redacted:github-token]@github.com/a/b");
  for (const char* text :
       {"http://localhost:8080/@x", "https://me@host", "https://user:$PASSWORD@host",
        "https://user:<password>@host", "ssh://git@host:22/x", "https://h/a:b@c", "://:@"}) {
    EXPECT_EQ(redacted(text), text);
  }
}

TEST(Redact, TakesOutSecretsOfAwsBasicCredentialsAndWebhooks) {
  const std::string secret = kBody36 + "/+x9";
  EXPECT_EQ(redacted("AWS_SECRET_ACCESS_KEY=" + secret),
            "AWS_SECRET_ACCESS_KEY=[redacted:aws-secret]");
  EXPECT_EQ(redacted(R"("SecretAccessKey": ")" + secret + "\""),
            R"("SecretAccessKey": "[redacted:aws-secret]")");
  EXPECT_EQ(redacted("Authorization: Basic dXNlcjpwYXNzd29yZDEyMzQ1"),
            "Authorization: Basic [redacted:basic-credentials]");
  EXPECT_EQ(redacted(joined("https://hooks.slack.com/", "services/T000A1B2C/B000A1B2C/" + kBody36)),
            "https://hooks.slack.com/services/[redacted:slack-webhook]");
  EXPECT_EQ(redacted("basic understanding of things"), "basic understanding of things");
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
  EXPECT_EQ(Redactor().redact_json(json), 2u);
  EXPECT_EQ(
      json,
      R"({"a":["x\n[redacted:api-key]",1.50],"h":{"Authorization":"Bearer [redacted:bearer-token]"},"quote\"":"\u00e9"})");
}

TEST(Redact, LeavesJsonWithoutSecretsAsItIs) {
  const std::string json = R"( {"a" : "b\"sk-", "n":1e3} )";
  std::string copy = json;
  EXPECT_EQ(Redactor().redact_json(copy), 0u);
  EXPECT_EQ(copy, json);
}

Redactor with_rules(const std::vector<RedactionRule>& rules,
                    const std::vector<std::string>& without = {}) {
  auto redactor = Redactor::create(rules, without);
  EXPECT_TRUE(redactor) << redactor.error().message;
  return std::move(*redactor);
}

TEST(RedactionRules, AddToThoseThatAreBuiltIn) {
  const Redactor redactor =
      with_rules({{"host", R"(\bhost-[0-9]{4}\b)"}, {"pin", "PIN: ([0-9]+)"}}, {"github-token"});
  const std::string token = joined("ghp_", kBody36);
  std::string text = "host-1234, PIN: 99, " + token + ", " + joined("sk-", kBody48);
  EXPECT_EQ(redactor.redact_text(text), 3u);
  EXPECT_EQ(text, "[redacted:host], PIN: [redacted:pin], " + token + ", [redacted:api-key]");
  std::string json = R"({"a":"PIN: 7"})";
  EXPECT_EQ(redactor.redact_json(json), 1u);
  EXPECT_EQ(json, R"({"a":"PIN: [redacted:pin]"})");
}

TEST(RedactionRules, OfThoseThatOverlapTheOneThatBeginsFirstCounts) {
  const Redactor redactor = with_rules({{"all", "key .*"}, {"word", "[a-z]+"}});
  const auto found = redactor.find("key " + joined("sk-", kBody48));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "all");
  EXPECT_EQ(found[0].begin, 0u);
}

TEST(RedactionRules, KeepTextUtf8EvenIfTheyMatchSingleBytes) {
  std::string text = "a\xC3\xA9z";
  with_rules({{"byte", R"(a\C)"}}).redact_text(text);
  EXPECT_EQ(text, "[redacted:byte]z");
  text = "\xC3\xA9";
  EXPECT_EQ(with_rules({{"nothing", "x*"}}).redact_text(text), 0u) << "an empty match is none";
}

TEST(RedactionRules, ThatAreWrongAreNamedWithTheReason) {
  const auto message = [](const RedactionRule& rule) {
    const auto redactor = Redactor::create({rule}, {});
    return redactor ? "" : redactor.error().message;
  };
  EXPECT_EQ(message({"open", "(a"}), "rule \"open\": the pattern is wrong: missing ): (a");
  EXPECT_NE(message({"back", R"((a)\1)"}), "") << "RE2 has no references back";
  EXPECT_NE(message({"Upper", "a"}), "");
  EXPECT_NE(message({"jwt", "a"}), "") << "a built-in name";
  EXPECT_NE(message({"empty", ""}), "");
  EXPECT_NE(message({"long", std::string(5000, 'a')}), "");
  EXPECT_EQ(Redactor::create({}, {"none"}).error().message,
            "rule \"none\": there is no such built-in rule");
}

TEST(RedactionRules, TakeTextThatIsMadeToTakeLong) {
  const Redactor redactor = with_rules({{"slow", "(a+)+$"}});
  std::string text(1 << 20, 'a');
  text += 'b';
  EXPECT_EQ(redactor.redact_text(text), 0u);
  std::string marks;
  for (int i = 0; i < 40'000; ++i) marks += joined("-----BEGIN PRIVATE ", "KEY-----");
  EXPECT_EQ(redactor.redact_text(marks), 0u);
  std::string urls;
  for (int i = 0; i < 100'000; ++i) urls += "://a:b";
  EXPECT_EQ(redactor.redact_text(urls), 0u);
}

}  // namespace
}  // namespace skein
