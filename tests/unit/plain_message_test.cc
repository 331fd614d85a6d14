#include "store/plain_message.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "store/line.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {
namespace {

// The same text, written so that the shortcut does not know it.
std::string spaced(const std::string& text) { return "{ " + text.substr(1); }

std::string body_of(const Event& event) {
  std::string text;
  append_event_open(text, event);
  return text + "}";
}

void expect_same_by_both_ways(const std::string& text, EventSource source) {
  Event quick;
  ASSERT_TRUE(read_plain_message(text, source, quick)) << text;
  Event thorough;
  ASSERT_FALSE(read_plain_message(spaced(text), source, thorough));
  ASSERT_TRUE(ok(EventReader().read(spaced(text), source, thorough)));
  EXPECT_TRUE(same_event(quick, thorough)) << text;
  EXPECT_EQ(quick.seq, thorough.seq);
  EXPECT_EQ(quick.timestamp, thorough.timestamp);
}

TEST(PlainMessage, IsReadAsTheThoroughReaderReadsIt) {
  std::mt19937 random(7);
  const std::string pieces[] = {"a",      "\\", "\"", "\n", "\t", std::string(1, '\0'),
                                "é",      "😀", "{",  "}",  ",",  "\",\"timestamp\":\"",
                                "\\\\\"", " "};
  for (int round = 0; round < 2000; ++round) {
    Message message;
    message.role = static_cast<Role>(random() % 4);
    for (std::size_t i = random() % 12; i > 0; --i)
      message.text += pieces[random() % std::size(pieces)];
    Event event;
    event.payload = message;
    event.timestamp =
        Timestamp{1'780'000'000'000'000 + static_cast<std::int64_t>(random() % 5) * 500};
    expect_same_by_both_ways(body_of(event), EventSource::kBody);

    std::string line = body_of(event);
    line.back() = ',';
    line += "\"seq\":" + std::to_string(random() + 1);
    close_line(line, 0);
    expect_same_by_both_ways(line, EventSource::kLine);
  }
}

TEST(PlainMessage, LeavesWhatHasMoreToTheThoroughReader) {
  Event event;
  event.payload = Message{Role::kUser, "text"};
  event.timestamp = Timestamp::from_ms(0);
  Event with_base = event;
  with_base.base = 0;
  Event with_metadata = event;
  with_metadata.metadata = json(R"({"a":1})");
  Event with_extra = event;
  with_extra.extra = json(R"({"x":"y"})");
  Event with_memory_type = event;
  with_memory_type.memory_type = MemoryType::kDecisionPoint;
  Event without_time = event;
  without_time.timestamp = {};
  Event out;
  for (const Event& other :
       {with_base, with_metadata, with_extra, with_memory_type, without_time}) {
    EXPECT_FALSE(read_plain_message(body_of(other), EventSource::kBody, out)) << body_of(other);
  }
  EXPECT_TRUE(read_plain_message(body_of(event), EventSource::kBody, out));
  EXPECT_FALSE(read_plain_message(body_of(event), EventSource::kLine, out));
}

TEST(PlainMessage, ClearsWhatTheEventHeldBefore) {
  Event out = must(
      parse_event(R"({"type":"tool_use","name":"n","metadata":{"a":1},"base":0,"key":"k","x":1})"));
  out.tokens = 5;
  Event event;
  event.payload = Message{Role::kTool, "text"};
  event.timestamp = Timestamp::from_ms(1);
  ASSERT_TRUE(read_plain_message(body_of(event), EventSource::kBody, out));
  EXPECT_TRUE(same_event(out, event));
  EXPECT_FALSE(out.tokens.has_value());
}

}  // namespace
}  // namespace skein::test
