// Whatever text comes in comes out unchanged, or is refused; it is never obeyed.
#include "contract/contract.h"

namespace skein::test {
namespace {

using namespace std::string_literals;

// Valid UTF-8 that means something to some layer below.
std::vector<std::string> hostile_texts() {
  return {"",
          " ",
          "\n",
          "\r\n",
          "a\nb\rc\td",
          "\"",
          "'",
          "\\",
          "\\u0000",
          "\\ud800",
          "\0"s,
          "a\0b"s,
          "\x01\x1f\x7f",
          "'; DROP TABLE events; --",
          "%s%n",
          "${HOME}`id`$(id)",
          "{\"type\":\"result\"}",
          "}\n{\"agentId\":\"x\"}",
          "[1,2",
          "NEAR(\"a\" OR b*) AND NOT ^c:d",
          "\xe2\x80\xa8\xe2\x80\xa9",
          "\xef\xbb\xbf",
          "\xef\xbf\xbd\xef\xbf\xbf",
          "\xf0\x9f\xa7\xb6\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80",
          "\xf4\x8f\xbf\xbf",
          "e\xcc\x81 \xc3\xa9",
          "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xe2\x80\xae",
          "<script>alert(1)</script>",
          std::string(100'000, '"'),
          "ends with a backslash \\"};
}

// What no string may be.
std::vector<std::string> invalid_utf8() {
  return {"\xff",
          "\x80",
          "\xc0\xaf",
          "\xe0\x80\xaf",
          "\xed\xa0\x80",
          "\xed\xbf\xbf",
          "\xf4\x90\x80\x80",
          "\xe2\x82",
          "ok then \xf0\x9f\xa7",
          "\xfe\xfe\xff\xff"};
}

SKEIN_ON_EVERY_BACKEND(Text);

TEST_P(Text, OfEventsComesBackUnchanged) {
  const ThreadId id = create_thread(store()).id;
  std::vector<Event> events;
  for (const std::string& text : hostile_texts()) {
    const std::string quoted = Json::string(text).text();
    events.push_back(message(text));
    events.push_back(assistant_text(text));
    Event event = tool_use("n" + text.substr(0, 100), "{" + quoted + ":[" + quoted + "]}");
    event.metadata = json("{" + Json::string(text.substr(0, 50)).text() + ":" +
                          Json::string(text.substr(0, 9'000)).text() + "}");
    event.extra = json("{" + Json::string("x-" + text).text() + ":" + quoted + "}");
    events.push_back(std::move(event));
  }
  for (const Event& event : events) must_append(store(), id, event);
  backend_.reopen();
  const std::vector<Event> found = read_all(store(), id);
  ASSERT_THAT(found, SizeIs(events.size()));
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_TRUE(same_event(found[i], events[i])) << to_json(events[i]).substr(0, 300);
  }
}

TEST_P(Text, OfManifestsComesBackUnchanged) {
  for (const std::string& text : hostile_texts()) {
    NewThread thread;
    thread.agent_id = "agent";
    const std::string part = text.substr(0, 5'000);
    thread.fields.title(part).task_id(part).session_id(part);
    thread.fields.set("summary", part).set("resolution", part).set("x-" + text.substr(0, 50), part);
    const std::string quoted = Json::string(part).text();
    thread.fields.metadata(json("{" + quoted + ":" + quoted + "}"));
    const Manifest made = must(store().create(thread));
    const ThreadId updated = create_thread(store()).id;
    must(store().update(updated, thread.fields, {}));
    backend_.reopen();
    for (const ThreadId id : {made.id, updated}) {
      const Manifest found = get_thread(store(), id);
      EXPECT_EQ(found.title, part);
      EXPECT_EQ(found.task_id, part);
      EXPECT_EQ(found.session_id, part);
      EXPECT_EQ(found.summary, part);
      EXPECT_EQ(found.resolution, part);
      EXPECT_TRUE(same_json(found.metadata, json("{" + quoted + ":" + quoted + "}")));
      EXPECT_TRUE(same_json(found.extra, made.extra)) << found.extra.text();
    }
  }
}

TEST_P(Text, ThatIsNotUtf8IsRefusedEverywhere) {
  const ThreadId id = create_thread(store()).id;
  const std::string before = describe(get_thread(store(), id));
  const std::vector<std::string> feed = whole_feed();
  for (const std::string& bad : invalid_utf8()) {
    const std::vector<Event> events{message(bad), assistant_text(bad), tool_use(bad),
                                    with_key(message("m"), bad)};
    for (const Event& event : events) {
      EXPECT_TRUE(fails(append_one(store(), id, event), ErrorCode::kInvalid));
    }
    EXPECT_TRUE(fails(store().lease(id, bad, 1s, std::nullopt), ErrorCode::kInvalid));
    EXPECT_TRUE(fails(store().write(std::vector{record("c", bad, "")}), ErrorCode::kInvalid));
    EXPECT_TRUE(fails(Json::parse('"' + bad + '"'), ErrorCode::kInvalid));
    EXPECT_TRUE(fails(ManifestPatch::parse(R"({"title":")" + bad + "\"}"), ErrorCode::kInvalid));
    EXPECT_TRUE(
        fails(parse_event(R"({"role":"user","text":")" + bad + "\"}"), ErrorCode::kInvalid));
    EXPECT_TRUE(fails(store().update(id, ManifestPatch().clear(bad), {}), ErrorCode::kInvalid));
    EXPECT_TRUE(fails(store().update(id, ManifestPatch().title(bad), {}), ErrorCode::kInvalid));
  }
  EXPECT_EQ(describe(get_thread(store(), id)), before);
  EXPECT_EQ(whole_feed(), feed);
}

TEST_P(Text, NumbersAndSpellingsInUnknownFieldsKeepTheirMeaning) {
  const std::string odd =
      R"({"big":12345678901234567890123,"small":1e-400,"neg":-0.0,"exact":0.1000000000000000055511,)"
      R"("huge":1E+400,"esc":"\u00e9\ud83e\uddf6\/","empty":{},"list":[],"deep":[[[[{"a":[null]}]]]]})";
  const ThreadId id = create_thread(store()).id;
  must_append(store(), id, with_metadata(with_extra(message("m"), odd), odd));
  must_append(store(), id, tool_use("t", odd));
  must(store().update(id, patch(R"({"metadata":)" + odd + R"(,"custom":)" + odd + "}"), {}));
  backend_.reopen();
  const std::vector<Event> events = read_all(store(), id);
  EXPECT_TRUE(same_json(events[0].extra, json(odd))) << events[0].extra.text();
  EXPECT_TRUE(same_json(events[0].metadata, json(odd))) << events[0].metadata.text();
  EXPECT_TRUE(same_json(std::get<ToolUse>(events[1].payload).input, json(odd)));
  const Manifest found = get_thread(store(), id);
  EXPECT_TRUE(same_json(found.metadata, json(odd))) << found.metadata.text();
  EXPECT_TRUE(same_json(found.extra, json(R"({"custom":)" + odd + "}"))) << found.extra.text();
  for (const std::string_view digits : {"12345678901234567890123", "0.1000000000000000055511"}) {
    EXPECT_NE(found.metadata.text().find(digits), std::string::npos);
    EXPECT_NE(events[0].extra.text().find(digits), std::string::npos);
  }
}

TEST_P(Text, MayBeNestedAsDeepAsTheLimitAllows) {
  const ThreadId id = create_thread(store()).id;
  const auto nested = [](std::size_t levels) {
    std::string text = "1";
    for (std::size_t i = 0; i < levels; ++i) text = R"({"a":)" + text + "}";
    return text;
  };
  constexpr std::size_t deep = limits::kMaxJsonDepth;
  must_append(store(), id, with_metadata(message("m"), nested(deep)));
  must_append(store(), id, tool_use("t", nested(deep)));
  must_append(store(), id, with_extra(message("m"), nested(deep)));
  must(store().update(id, ManifestPatch().metadata(json(nested(deep))), {}));
  EXPECT_TRUE(fails(Json::parse(nested(limits::kMaxJsonDepth + 1)), ErrorCode::kInvalid,
                    {std::to_string(limits::kMaxJsonDepth)}));
  backend_.reopen();
  const std::vector<Event> events = read_all(store(), id);
  EXPECT_TRUE(same_json(events.at(0).metadata, json(nested(deep))));
  EXPECT_TRUE(same_json(events.at(2).extra, json(nested(deep))));
  for (const Event& event : events) EXPECT_TRUE(ok(parse_event(to_json(event))));
  EXPECT_TRUE(same_json(get_thread(store(), id).metadata, json(nested(deep))));
}

}  // namespace
}  // namespace skein::test
