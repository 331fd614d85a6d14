// What counts as a credential, and how one finds out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "program.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kToken = std::string("ghp_") + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
constexpr const char* kConfig = ".skein/config.json";

TEST(RedactCommand, TakesCredentialsOutOfStandardInput) {
  const Workspace workspace;
  const Ran ran = workspace.run({"redact"}, "a " + kToken + "\nb\n");
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(ran.out, "a [redacted:github-token]\nb\n");
  const auto json = workspace.run({"redact", "--json"}, kToken).json();
  EXPECT_EQ(json.at("redacted").as_int64(), 1);
  EXPECT_EQ(json.at("text").as_string(), "[redacted:github-token]");
}

TEST(RedactCommand, TestShowsWhatWouldGoWhereAndByWhichRule) {
  const Workspace workspace;
  workspace.write(kConfig, R"({"redact":{"host":"host-[0-9]+"}})");
  workspace.trust();
  const Ran ran = workspace.run({"redact", "--test", "--json"}, "x\nab host-12 " + kToken + "\n");
  EXPECT_EQ(ran.code, 0) << ran;
  const auto found = ran.json().as_array();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].at("rule").as_string(), "host");
  EXPECT_EQ(found[0].at("line").as_int64(), 2);
  EXPECT_EQ(found[0].at("column").as_int64(), 4);
  EXPECT_EQ(found[0].at("text").as_string(), "host-12");
  EXPECT_EQ(found[1].at("rule").as_string(), "github-token");
  EXPECT_EQ(found[1].at("bytes").as_int64(), 40);
  EXPECT_THAT(ran.out, Not(HasSubstr(kToken))) << "what is long is not shown whole";
  const Ran nothing = workspace.run({"redact", "--test"}, "nothing\n");
  EXPECT_EQ(nothing.code, 0) << nothing;
  EXPECT_EQ(nothing.out, "");
}

TEST(RedactCommand, RulesListsThoseThatAreInForce) {
  const Workspace workspace;
  workspace.write(kConfig, R"({"redact":{"host":"host-[0-9]+","jwt":false}})");
  workspace.trust();
  const Ran ran = workspace.run({"redact", "--rules"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("github-token"), HasSubstr("host-[0-9]+"),
                             HasSubstr("configuration"), Not(HasSubstr("jwt"))));
}

TEST(RedactCommand, ARuleOfTheUserThatIsWrongIsFoundInTheUsersFile) {
  const Workspace workspace;
  const TempDir user;
  workspace.write(kConfig, R"({"project":"p"})");
  std::filesystem::create_directory(user.path() / "skein");
  const std::string file = (user.path() / "skein/config.json").string();
  const Ran ran =
      workspace.shell(R"(printf '{"redact":{"host":"("}}' > )" + file +
                      "; echo x | XDG_CONFIG_HOME=" + user.path().string() + " skein redact");
  EXPECT_NE(ran.code, 0) << ran;
  EXPECT_THAT(ran.err, AllOf(HasSubstr(file), HasSubstr("host"),
                             Not(HasSubstr((workspace.path() / kConfig).string()))));
}

TEST(RedactCommand, ARuleThatIsWrongIsNamedAndNothingIsImported) {
  const Workspace workspace;
  workspace.write("talk.json", R"([{"role":"user","content":"hello"}])");
  struct Case {
    const char* config;
    const char* reason;
  };
  for (const Case& one :
       {Case{R"({"redact":{"good":"a","bad":"(a"}})",
             R"(rule "bad": the pattern is wrong: missing ))"},
        Case{R"({"redact":{"jwt":"a"}})", R"(rule "jwt": this is the name of a built-in rule)"},
        Case{R"({"redact":{"nope":false}})", R"(rule "nope": there is no such built-in rule)"},
        Case{R"({"redact":{"x":1}})", R"(rule "x": must be a regular expression, or false)"},
        Case{R"({"redact":["a"]})", "must be an object of rules"}}) {
    workspace.write("config.json", one.config);
    for (const char* command : {"import", "redact"}) {
      const Ran ran = command == std::string("import")
                          ? workspace.run({"--config", "config.json", "import", "talk.json"})
                          : workspace.run({"--config", "config.json", "redact"}, "x");
      EXPECT_EQ(ran.code, 2) << ran;
      EXPECT_THAT(ran.err,
                  AllOf(HasSubstr("config.json"), HasSubstr("\"redact\""), HasSubstr(one.reason)));
    }
  }
  EXPECT_FALSE(std::filesystem::exists(workspace.path() / ".skein/skein.db"));
}

class ImportingTranscripts : public OnEveryBackend {};
INSTANTIATE_ON_EVERY_BACKEND(ImportingTranscripts);

TEST_P(ImportingTranscripts, SaysWhatWasTakenAndWhatWasIgnored) {
  const std::string session = "11111111-2222-4333-8444-555555555555";
  workspace_.write(kConfig, R"({"redact":{"codename":"(?i)bluebird"}})");
  workspace_.trust();
  workspace_.write(
      "claude/projects/-x/" + session + ".jsonl",
      R"({"type":"mode","sessionId":")" + session + "\"}\n" +
          R"({"type":"user","uuid":"u1","parentUuid":null,"sessionId":")" + session +
          R"(","timestamp":"2026-01-23T14:30:52.000Z","message":{"role":"user","content":"Is Bluebird safe?"}})" +
          "\n");
  const Ran ran = workspace_.run({"import", "claude", "--agent", "helper", "--json"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(ran.json().at("imported").as_int64(), 1);
  EXPECT_EQ(ran.json().at("redacted").as_int64(), 1);
  EXPECT_EQ(ran.json().at("ignored").at("mode").as_int64(), 1);
  EXPECT_THAT(workspace_.texts(session), testing::ElementsAre("Is [redacted:codename] safe?"));
  EXPECT_EQ(workspace_.run({"thread", "show", session, "--json"}).json().at("agentId").as_string(),
            "helper");
  const Ran again = workspace_.run({"import", "claude"});
  EXPECT_EQ(again.code, 0) << again;
  EXPECT_THAT(again.out, testing::EndsWith("ignored: 1 mode\nnothing changed\n"));
  EXPECT_EQ(workspace_.run({"import", "claude", "--agent", "a/b"}).code, 1);
}

}  // namespace
}  // namespace skein::test
