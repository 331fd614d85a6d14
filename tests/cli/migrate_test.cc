#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"
#include "skein/store.h"
#include "support/builders.h"
#include "support/expect.h"
#include "support/postgres_server.h"

namespace skein::test {
namespace {

using testing::HasSubstr;

class Migrating : public testing::Test {
 protected:
  void fill(const std::string& url) {
    auto store = must(open_store(url));
    NewThread thread;
    thread.agent_id = "rich";
    thread.alias = "6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5b";
    thread.fields = patch(R"({"title":"Émile \"x\"","metadata":{"k":[1,{"a":null}],"n":1},
                              "pins":[1],"unknown":{"deep":[]}})");
    rich_ = must(store->create(thread)).id;
    must_append(*store, rich_, with_key(message("a\nb"), "k-1"));
    Event counted = with_metadata(message("counted", Role::kAssistant), R"({"source":"x"})");
    counted.tokens = 7;
    must_append(*store, rich_, counted);
    must_append(*store, rich_,
                with_extra(tool_use("run", R"({"code":"ls"})"), R"({"unknown":1.0})"));
    must_append(*store, rich_, with_base(message("instead"), 1));
    NewThread fork;
    fork.agent_id = "rich";
    fork.from = Parent{rich_, 2};
    must(store->create(fork));
    must(store->update(create_thread(*store, "plain").id, patch(R"({"status":"closed"})"), {}));
    for (int i = 0; i < 30; ++i) create_thread(*store, "many", {message(std::to_string(i))});
    must(store->write(std::vector{record("runs", "a/b", std::string("\0\xff", 2)),
                                  record("notes", "ü", R"({"id":1})")}));
  }

  static std::vector<ThreadId> of_agent(Store& store, const std::string& agent) {
    ListQuery query;
    query.agent_id = agent;
    return list_ids(store, query);
  }

  Ran migrate(const std::string& from, const std::string& to) {
    return workspace_.run({"migrate", "--from", from, "--to", to, "--json"});
  }
  std::string exported(const std::string& url) {
    const Ran ran = workspace_.run({"export", "--all", "--store", url});
    EXPECT_EQ(ran.code, 0) << ran;
    return ran.out;
  }

  const Workspace workspace_;
  const PostgresTables tables_;
  const std::string first_ = workspace_.url("sqlite", "first");
  ThreadId rich_;
};

TEST_F(Migrating, ThroughEveryBackendAndBackLosesNothing) {
  fill(first_);
  const std::string jsonl = workspace_.url("jsonl", "files");
  const std::string last = workspace_.url("sqlite", "last");
  for (const auto& [from, to] :
       {std::pair(first_, tables_.url()), {tables_.url(), jsonl}, {jsonl, last}}) {
    const Ran ran = migrate(from, to);
    ASSERT_EQ(ran.code, 0) << ran;
    EXPECT_EQ(ran.json().at("verified"), true);
    EXPECT_EQ(ran.json().at("threads"), 33);
    EXPECT_EQ(ran.json().at("records"), 2);
    EXPECT_EQ(ran.json().at("from"), ran.json().at("to"));
  }
  EXPECT_EQ(exported(last), exported(first_));
  EXPECT_EQ(scan_all(*must(open_store(last)), "runs").at(0).bytes, std::string("\0\xff", 2));
}

TEST_F(Migrating, AgainGoesOnWhereItWasAndCopiesNothingTwice) {
  fill(first_);
  {
    // As it is left behind by an interruption: some threads, one of them in part, no records.
    auto from = must(open_store(first_));
    auto to = must(open_store(tables_.url()));
    const Manifest manifest = get_thread(*from, rich_);
    NewThread begun;
    begun.agent_id = "rich";
    begun.id = manifest.id;
    begun.alias = manifest.alias;
    begun.fields = patch(R"({"title":"Émile \"x\"","metadata":{"k":[1,{"a":null}],"n":1},
                             "pins":[1],"unknown":{"deep":[]}})");
    begun.fields.set("createdAt", manifest.created_at.str());
    begun.fields.set("updatedAt", manifest.updated_at.str());
    begun.events = read_all(*from, manifest.id, {.limit = 2});
    ASSERT_EQ(must(to->create(begun)).last_seq, 2U);
  }
  const Ran rest = migrate(first_, tables_.url());
  ASSERT_EQ(rest.code, 0) << rest;
  EXPECT_EQ(rest.json().at("threads"), 32);
  const Ran again = migrate(first_, tables_.url());
  ASSERT_EQ(again.code, 0) << again;
  EXPECT_EQ(again.json().at("threads"), 0);
  EXPECT_EQ(again.json().at("events"), 0);
  EXPECT_EQ(again.json().at("records"), 0);
  EXPECT_EQ(again.json().at("verified"), true);
  EXPECT_EQ(exported(tables_.url()), exported(first_));
}

TEST_F(Migrating, LeavesWhatIsThereAndSaysThatTheStoresDiffer) {
  fill(first_);
  {
    auto to = must(open_store(tables_.url()));
    auto from = must(open_store(first_));
    NewThread other;
    other.agent_id = "plain";
    other.id = of_agent(*from, "plain").at(0);
    must(to->create(other));
    must(to->write(std::vector{record("runs", "a/b", "other")}));
  }
  const Ran ran = migrate(first_, tables_.url());
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_EQ(ran.json().at("verified"), false);
  EXPECT_EQ(ran.json().at("problems"), 2);
  EXPECT_THAT(ran.err, HasSubstr("left as it is"));
  EXPECT_EQ(scan_all(*must(open_store(tables_.url())), "runs").at(0).bytes, "other");
}

TEST_F(Migrating, RefusesWhatMakesNoSense) {
  EXPECT_EQ(migrate(first_, first_).code, 2);
  EXPECT_EQ(migrate(workspace_.url("sqlite", "absent"), tables_.url()).code, 3);
  EXPECT_EQ(migrate("nonsense:", tables_.url()).code, 1);
}

TEST_F(Migrating, NeverShowsAPassword) {
  const std::string url = "postgres://me:secret@127.0.0.1:1/x?password=secret&connect_timeout=2";
  const Ran ran = workspace_.run({"doctor", "--store", url});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out + ran.err, testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace skein::test
