// Stores that earlier versions wrote (tools/make_fixtures): this version opens them, answers what
// the version that wrote them answered, and continues them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <memory>
#include <sstream>

#include "program.h"
#include "serving.h"
#include "support/postgres_server.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using testing::AnyOf;
using testing::IsEmpty;

const fs::path& fixtures() {
  static const fs::path folder = fs::path(SKEIN_SOURCE_DIR) / "tests" / "fixtures" / "v0.1";
  return folder;
}

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  EXPECT_TRUE(stream) << file;
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

const json::value& all_expected() {
  static const json::value parsed = json::parse(content_of(fixtures() / "expected.json"));
  return parsed;
}

// What of `expected` is missing or different in `actual`. Members that are new are fine; entries of
// arrays are not.
void compare(const json::value& expected, const json::value& actual, const std::string& path,
             std::vector<std::string>& differences) {
  if (expected.is_object() && actual.is_object()) {
    for (const auto& [name, member] : expected.as_object()) {
      const std::string inner = path + "." + std::string(name);
      const json::value* found = actual.as_object().if_contains(name);
      if (found == nullptr) {
        differences.push_back(inner + " is missing");
      } else {
        compare(member, *found, inner, differences);
      }
    }
    return;
  }
  if (expected.is_array() && actual.is_array() &&
      expected.as_array().size() == actual.as_array().size()) {
    for (std::size_t i = 0; i < expected.as_array().size(); ++i) {
      compare(expected.as_array()[i], actual.as_array()[i], path + "[" + std::to_string(i) + "]",
              differences);
    }
    return;
  }
  if (expected == actual) return;
  differences.push_back(path + " was " + json::serialize(expected) + ", now " +
                        json::serialize(actual));
}

std::vector<std::string> differences_of(const json::array& expected,
                                        const std::vector<json::value>& actual) {
  std::vector<std::string> differences;
  compare(expected, json::array(actual.begin(), actual.end()), "", differences);
  return differences;
}

// A copy of the workspace that v0.1 wrote on one backend, with the store that belongs to it.
class Fixtures : public testing::TestWithParam<std::string> {
 protected:
  Fixtures() : expected_(all_expected().at(GetParam()).as_object()) {
    fs::copy(fixtures() / GetParam(), workspace_, fs::copy_options::recursive);
    std::string store = "sqlite:" + (workspace_ / ".skein" / "skein.db").string();
    if (GetParam() == "jsonl") store = "jsonl:" + (workspace_ / "store").string();
    if (GetParam() == "postgres") {
      database_ = std::make_unique<PostgresDatabase>(content_of(fixtures() / "postgres.sql"));
      store = database_->url();
    }
    environment_ = {"SKEIN_STORE=" + store, "SKEIN_WORKSPACE=" + workspace_.string(),
                    "XDG_CONFIG_HOME=" + (folder_.path() / "config").string()};
  }

  Running start(std::vector<std::string> arguments) const {
    return Running(
        {.folder = workspace_, .arguments = std::move(arguments), .environment = environment_});
  }
  Ran run(std::vector<std::string> arguments) const { return start(std::move(arguments)).finish(); }

  std::string text(std::string_view object, std::string_view member) const {
    return std::string(expected_.at(object).at(member).as_string());
  }

  // The next events of the feed, as many as are expected.
  Ran feed_from(const std::string& cursor, std::size_t count) const {
    return run({"watch", "--json", "--since", cursor, "--limit", std::to_string(count)});
  }

  void expect_answer(const json::value& answer) const {
    const auto command = json::value_to<std::vector<std::string>>(answer.at("command"));
    const Ran ran = run(command);
    ASSERT_EQ(ran.code, 0) << answer.at("command") << " " << ran;
    const bool lines = std::find(command.begin(), command.end(), "--jsonl") != command.end();
    const auto values = lines ? ran.json_lines() : std::vector{ran.json()};
    EXPECT_THAT(differences_of(answer.at("values").as_array(), values), IsEmpty())
        << answer.at("command");
  }

  TempDir folder_;
  const fs::path workspace_ = folder_.path() / "workspace";
  const json::object& expected_;
  std::unique_ptr<PostgresDatabase> database_;
  std::vector<std::string> environment_;
};

INSTANTIATE_TEST_SUITE_P(Backends, Fixtures, testing::Values("sqlite", "jsonl", "postgres"),
                         [](const auto& backend) { return backend.param; });

TEST_P(Fixtures, StoreOfV01KeepsEverything) {
  const auto& answers = expected_.at("answers").as_array();
  ASSERT_GT(answers.size(), 50u);
  // The index of a PostgreSQL store is named after its URL, and the copy has a new URL.
  if (database_) {
    ASSERT_EQ(run({"backfill"}).code, 0);
  }
  for (const json::value& answer : answers) expect_answer(answer);
}

TEST_P(Fixtures, RunsThatV01LeftOpenAreListed) {
  const Ran list = run({"runs", "list", "--limit", "100", "--json"});
  ASSERT_EQ(list.code, 0) << list;
  const json::value runs = list.json();
  for (const char* state : {"running", "pending"}) {
    const std::string id = text("openRuns", state);
    const auto found =
        std::find_if(runs.as_array().begin(), runs.as_array().end(),
                     [&](const json::value& run) { return run.at("runId").as_string() == id; });
    ASSERT_NE(found, runs.as_array().end()) << state << " " << id;
    EXPECT_EQ(found->at("threadId").as_string(), text("openRuns", "thread"));
    EXPECT_THAT(std::string(found->at("status").as_string()),
                AnyOf("running", "pending", "interrupted"));
  }
}

TEST_P(Fixtures, FeedOfV01ContinuesFromASavedCursor) {
  const auto& rest = expected_.at("feed").at("rest").as_array();
  const Ran continued = feed_from(text("feed", "cursor"), rest.size());
  ASSERT_EQ(continued.code, 0) << continued;
  EXPECT_THAT(differences_of(rest, continued.json_lines()), IsEmpty());
}

TEST_P(Fixtures, StoreOfV01TakesNewEventsAndTellsThem) {
  const std::string thread = text("threads", "order");
  const std::size_t before = run({"thread", "events", thread, "--jsonl"}).json_lines().size();
  for (const std::string& id : std::vector{thread, text("openRuns", "thread")}) {
    const Ran appended = run({"thread", "append", id, "--text", "New in " + id});
    ASSERT_EQ(appended.code, 0) << appended;
  }
  const auto events = run({"thread", "events", thread, "--jsonl"}).json_lines();
  ASSERT_EQ(events.size(), before + 1);
  EXPECT_EQ(events.back().at("text").as_string(), "New in " + thread);
  EXPECT_EQ(events.back().at("seq").to_number<std::size_t>(), before + 1);
  // Exactly what is new comes after the cursor of the last event that v0.1 told.
  const auto told = feed_from(text("feed", "end"), 2).json_lines();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].at("message").at("text").as_string(), "New in " + thread);
  EXPECT_EQ(told[1].at("message").at("text").as_string(), "New in " + text("openRuns", "thread"));
  const Ran doctor = run({"doctor", "--json"});
  EXPECT_EQ(doctor.code, 0) << doctor;
  EXPECT_EQ(doctor.json().at("health").as_string(), "healthy");
}

TEST_P(Fixtures, SessionThatV01LeftOpenCanBeClosed) {
  const std::string session(expected_.at("session").as_string());
  const Ran closed = run({"session", "close", "--session", session, "--summary", "Done", "--json"});
  ASSERT_EQ(closed.code, 0) << closed;
  EXPECT_THAT(closed.out, testing::HasSubstr(session));
}

// Records of a store outside the workspace's trust, PostgreSQL's, count from the start.
TEST_P(Fixtures, RecordsOfV01CountOnceTheyAreTrusted) {
  const std::string admin(expected_.at("keys").as_object().begin()->value().as_string());
  const std::string task(
      run({"task", "list", "--json"}).json().as_array().back().at("id").as_string());
  const auto status = [&] {
    return Serving(start({"serve", "--json", "--port", "0"}))
        .ask("GET", "/metrics", {}, admin)
        .status;
  };
  if (GetParam() != "postgres") {
    EXPECT_EQ(status(), 401);
    EXPECT_NE(run({"task", "run", task}).code, 0);
  }
  const std::string printed = run({"trust", "--print"}).out;
  const std::string digest = printed.substr(printed.rfind("digest ") + 7, 64);
  const Ran trusted = run({"trust", "--trust=" + digest});
  ASSERT_EQ(trusted.code, 0) << trusted;
  EXPECT_EQ(status(), 200);
  for (const char* command : {"task", "trigger", "key"}) {
    const Ran listed = run({command, "list"});
    EXPECT_EQ(listed.code, 0) << listed;
    EXPECT_THAT(listed.err, testing::Not(testing::HasSubstr("not signed"))) << command;
  }
  const Ran worked = run({"task", "run", task});
  EXPECT_EQ(worked.code, 0) << worked;
  EXPECT_THAT(run({"trust", "--print"}).out, testing::HasSubstr("nothing needs trust"));
}

}  // namespace
}  // namespace skein::test
