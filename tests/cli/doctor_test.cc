#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace skein::test
