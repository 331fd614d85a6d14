#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "program.h"

namespace skein::test {
namespace {

using testing::HasSubstr;

class DoctorCommand : public OnEveryBackend {};

INSTANTIATE_ON_EVERY_BACKEND(DoctorCommand);

TEST_P(DoctorCommand, CallsWhatItWroteHealthyAndSaysWhatItLookedAt) {
  workspace_.create({"--message", "one", "--message", "two"});
  const Ran text = workspace_.run({"doctor"});
  EXPECT_EQ(text.code, 0) << text;
  EXPECT_THAT(text.out, HasSubstr("1 threads, 2 events"));
  EXPECT_THAT(text.out, testing::EndsWith("healthy\n"));
  const auto json = workspace_.run({"doctor", "--json"}).json();
  EXPECT_EQ(json.at("health").as_string(), "healthy");
  EXPECT_EQ(json.at("threads").as_int64(), 1);
  EXPECT_EQ(json.at("events").as_int64(), 2);
  EXPECT_EQ(json.at("broken").as_int64(), 0);
  EXPECT_TRUE(json.at("findings").as_array().empty());
}

class DoctorOfFiles : public testing::Test {
 protected:
  std::string file_of(const std::string& id) const {
    return "store/default/threads/" + id + ".jsonl";
  }

  Workspace workspace_{"jsonl"};
};

TEST_F(DoctorOfFiles, CallsEventsOfOtherProgramsUnverifiableAndThatIsNoFailure) {
  workspace_.write(
      file_of("a1b2c3d4e5f6"),
      R"({"agentId":"default","createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z"}
{"role":"user","text":"legacy","timestamp":"2026-01-01T00:00:01Z"}
)");
  const Ran ran = workspace_.run({"doctor", "--json"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(ran.json().at("health").as_string(), "unverifiable");
  EXPECT_EQ(ran.json().at("unverifiable").as_int64(), 1);
}

TEST_F(DoctorOfFiles, CallsADamagedEventBrokenAndNamesThreadAndPosition) {
  const std::string id = workspace_.create({"--message", "one", "--message", "two"});
  std::string content = workspace_.read(file_of(id));
  content.replace(content.find("\"one\""), 5, "\"oNe\"");
  workspace_.write(file_of(id), content);
  const Ran json = workspace_.run({"doctor", "--json"});
  EXPECT_EQ(json.code, 1) << json;
  EXPECT_EQ(json.json().at("health").as_string(), "broken");
  const auto finding = json.json().at("findings").as_array().at(0);
  EXPECT_EQ(finding.at("threadId").as_string(), id);
  EXPECT_EQ(finding.at("seq").as_int64(), 1);
  const Ran text = workspace_.run({"doctor"});
  EXPECT_EQ(text.code, 1) << text;
  EXPECT_THAT(text.out, HasSubstr("broken  thread " + id + ", event 1: "));
}

TEST_F(DoctorOfFiles, RepairsATornLastLine) {
  const std::string id = workspace_.create({"--message", "one"});
  const std::string whole = workspace_.read(file_of(id));
  workspace_.write(file_of(id), whole + R"({"type":"mess)");
  const Ran repaired = workspace_.run({"doctor", "--repair", "--json"});
  EXPECT_EQ(repaired.code, 0) << repaired;
  EXPECT_EQ(workspace_.read(file_of(id)), whole);
  EXPECT_EQ(workspace_.run({"doctor", "--json"}).json().at("health").as_string(), "healthy");
}

// The checks of a setup, by their names.
class DoctorOfSetups : public testing::Test {
 protected:
  boost::json::object check(const std::string& name, const std::string& before = "true") const {
    const Ran ran =
        workspace_.shell(before + "; SKEIN_EMBEDDER=${EMBEDDER:-none} skein doctor --setup --json");
    const auto json = ran.json();
    for (const auto& each : json.at("setup").as_array()) {
      if (each.at("name").as_string() == name) return each.as_object();
    }
    ADD_FAILURE() << "no check called " << name << "\n" << ran;
    return {};
  }
  static std::string text(const boost::json::object& check, std::string_view name) {
    const auto* value = check.if_contains(name);
    return value == nullptr ? "" : std::string(value->as_string());
  }

  // Server settings are the user's, not the workspace's.
  void set_server(const std::string& server) const {
    const Ran ran = workspace_.run({"config", "set", "server", server, "--user"});
    EXPECT_EQ(ran.code, 0) << ran;
  }

  Workspace workspace_;
};

TEST_F(DoctorOfSetups, IsContentWithAnEmptyFolderAndMakesNothing) {
  const Ran ran = workspace_.shell("SKEIN_EMBEDDER=none skein doctor --setup");
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.out, HasSubstr("is not there yet"));
  EXPECT_EQ(text(check("store"), "state"), "off");
  EXPECT_EQ(text(check("disk"), "state"), "fine");
  EXPECT_FALSE(std::filesystem::exists(workspace_.path() / ".skein" / "skein.db"));
}

TEST_F(DoctorOfSetups, SaysWhatToDoForClaudeCode) {
  EXPECT_EQ(text(check("hooks"), "state"), "off");
  EXPECT_EQ(text(check("hooks"), "next"), "skein hook install");
  EXPECT_EQ(text(check("hooks", "skein hook install --yes >/dev/null"), "state"), "fine");
  EXPECT_EQ(text(check("mcp"), "state"), "off");
  workspace_.write(".mcp.json", R"({"mcpServers":{"skein":{"command":"skein","args":["mcp"]}}})");
  EXPECT_EQ(text(check("mcp"), "state"), "fine");
  workspace_.write(".mcp.json", "{");
  EXPECT_EQ(text(check("mcp"), "state"), "problem");
}

TEST_F(DoctorOfSetups, KnowsWhetherGitAndClaudeAreThere) {
  EXPECT_EQ(text(check("git"), "state"), "off") << "no repository";
  EXPECT_EQ(text(check("git", "git init -q -b trunk ."), "state"), "fine");
  EXPECT_THAT(text(check("git"), "what"), HasSubstr("on trunk"));
  EXPECT_EQ(text(check("claude", "mkdir -p bin; ln -sf /bin/true bin/claude; PATH=$PWD/bin:$PATH"),
                 "state"),
            "fine");
}

TEST_F(DoctorOfSetups, FindsWhatAgentsLack) {
  EXPECT_EQ(text(check("agents"), "state"), "fine");
  workspace_.write("agents/writer/agent.json",
                   R"({"engine":"anthropic","model":"m","options":{"keyVariable":"WRITERS_KEY"}})");
  EXPECT_EQ(text(check("agent"), "state"), "problem");
  EXPECT_THAT(text(check("agent"), "what"), HasSubstr("WRITERS_KEY"));
  EXPECT_EQ(workspace_.shell("SKEIN_EMBEDDER=none skein doctor --setup").code, 1);
  EXPECT_EQ(text(check("agents", "export WRITERS_KEY=x"), "state"), "fine");
  workspace_.write("agents/writer/agent.json", R"({"engine":"magic"})");
  EXPECT_THAT(text(check("agent"), "what"), HasSubstr("magic"));
}

TEST_F(DoctorOfSetups, KnowsWhetherSomebodyServesAndWithWhichKeys) {
  set_server(R"({"port":1})");
  EXPECT_EQ(text(check("serve"), "what"), "nobody answers at 127.0.0.1:1; 0 keys");
  EXPECT_EQ(workspace_.run({"key", "create"}).code, 0);
  EXPECT_EQ(text(check("serve"), "what"), "nobody answers at 127.0.0.1:1; 1 keys");
  Running server = workspace_.start({"serve", "--port", "0", "--json"});
  const auto said = boost::json::parse(server.read_line().value_or("{}"));
  const std::string port = std::to_string(said.at("port").as_int64());
  set_server(R"({"port":)" + port + "}");
  EXPECT_EQ(text(check("serve"), "state"), "fine");
  set_server(R"({"address":"0.0.0.0","port":1})");
  EXPECT_EQ(text(check("serve"), "state"), "off");
}

TEST_F(DoctorOfSetups, NamesTheModelOfRecallOrWhyThereIsNone) {
  EXPECT_EQ(text(check("recall"), "state"), "off");
  EXPECT_EQ(text(check("recall", "EMBEDDER=auto"), "state"), "fine");
  EXPECT_EQ(text(check("recall", "EMBEDDER=bge-small SKEIN_MODELS=/nowhere; export SKEIN_MODELS"),
                 "state"),
            "problem");
}

TEST_F(DoctorOfFiles, ReportsAnIdThatTwoAgentsHave) {
  const std::string id = workspace_.create({"--message", "one"});
  workspace_.write("store/other/threads/" + id + ".jsonl", workspace_.read(file_of(id)));
  const Ran ran = workspace_.run({"doctor", "--json"});
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_EQ(ran.json().at("health").as_string(), "broken");
  const auto finding = ran.json().at("findings").as_array().at(0);
  EXPECT_EQ(finding.at("threadId").as_string(), boost::json::string(id));
  EXPECT_THAT(std::string(finding.at("what").as_string()),
              testing::AllOf(HasSubstr("default"), HasSubstr("other")));
}

}  // namespace
}  // namespace skein::test
