// Sessions that an engine keeps for a thread, on every backend.
#include "contract/run_fixture.h"

namespace skein::test {
namespace {

class RunSessions : public RunContract {};
INSTANTIATE_TEST_SUITE_P(, RunSessions, testing::ValuesIn(backend_names()), backend_of);

// Another program, or a person, wrote the manifest.
TEST_P(RunSessions, StartAnewWhenTheEngineRejectsTheSessionId) {
  std::vector<std::optional<std::string>> resumed;
  agents_.set("agent", {.run =
                            [&](const EngineRequest& request, EngineSink&, std::stop_token) {
                              resumed.push_back(request.session_id);
                              EngineTurn turn = says("done");
                              turn.session_id = "fresh";
                              return turn;
                            },
                        .is_agent = true});
  const ThreadId thread = thread_of();
  must(store().update(thread, patch(R"({"sessionId":"--settings={}"})"), {}));
  must(run(thread, "hi"));
  EXPECT_THAT(resumed, ElementsAre(std::nullopt));
  EXPECT_THAT(log_.lines(),
              testing::Contains(testing::AllOf(
                  testing::HasSubstr("log: "), testing::HasSubstr("new session"),
                  testing::HasSubstr("--settings={}"), testing::HasSubstr(thread.str()))));
  EXPECT_EQ(get_thread(store(), thread).session_id, "fresh");
  must(run(thread, "again"));
  EXPECT_THAT(resumed, ElementsAre(std::nullopt, std::optional<std::string>("fresh")));
}

}  // namespace
}  // namespace skein::test
