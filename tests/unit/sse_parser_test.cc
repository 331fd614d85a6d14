#include "core/sse_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/expect.h"

namespace skein::test {
namespace {

using namespace std::string_view_literals;

using testing::ElementsAre;
using testing::IsEmpty;

// "type|data|id" of each event; the stream is fed in pieces of `piece` bytes.
std::vector<std::string> events_of(std::string_view stream, std::size_t piece = 1) {
  SseParser parser(1000);
  std::vector<std::string> events;
  while (!stream.empty()) {
    EXPECT_TRUE(ok(parser.feed(stream.substr(0, piece), [&](const SseEvent& event) {
      events.push_back(event.type + "|" + event.data + "|" + event.id);
      return true;
    })));
    stream.remove_prefix(std::min(piece, stream.size()));
  }
  return events;
}

TEST(SseParser, TakesEventsWithAnyLineEndsInAnyPieces) {
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 1000U}) {
    EXPECT_THAT(
        events_of("data: a\ndata:b\n\nevent: x\rdata:  c\r\rid: 7\r\ndata: d\r\n\r\n", piece),
        ElementsAre("message|a\nb|", "x| c|", "message|d|7"))
        << piece;
  }
}

TEST(SseParser, SkipsCommentsUnknownFieldsAndAByteOrderMark) {
  EXPECT_THAT(events_of("\xEF\xBB\xBF: hello\nfoo: bar\ndata\n\n:\n\ndata: x\n\n"),
              ElementsAre("message||", "message|x|"));
}

TEST(SseParser, DropsEventsWithoutDataAndWhatTheEndCutOff) {
  EXPECT_THAT(events_of("event: ping\n\ndata: cut\n"), IsEmpty());
  EXPECT_THAT(events_of("event: ping\n\ndata: x\n\n"), ElementsAre("message|x|"));
}

TEST(SseParser, KeepsTheLastIdAndIgnoresOneWithANul) {
  EXPECT_THAT(events_of("id: 1\ndata: a\n\ndata: b\n\nid: 2\0x\ndata: c\n\nid\ndata: d\n\n"sv),
              ElementsAre("message|a|1", "message|b|1", "message|c|1", "message|d|"));
  SseParser parser(100);
  ASSERT_TRUE(ok(parser.feed("id: 9\ndata:\n\nid: 10\n", [](const SseEvent&) { return true; })));
  EXPECT_EQ(parser.last_id(), "9");
}

TEST(SseParser, TakesARetryOfDigitsOnly) {
  SseParser parser(100);
  const auto feed = [&](std::string_view bytes) {
    ASSERT_TRUE(ok(parser.feed(bytes, [](const SseEvent&) { return true; })));
  };
  feed("retry: 1x\nretry: -1\nretry:\n");
  EXPECT_FALSE(parser.retry());
  feed("retry: 2500\n");
  EXPECT_EQ(parser.retry(), std::chrono::milliseconds(2500));
}

TEST(SseParser, StopsWhenTheSinkHasEnough) {
  SseParser parser(100);
  int count = 0;
  const auto more = parser.feed("data: a\n\ndata: b\n\n", [&](const SseEvent&) {
    ++count;
    return false;
  });
  EXPECT_FALSE(must(more));
  EXPECT_EQ(count, 1);
}

TEST(SseParser, RefusesAnEventBeyondTheLimitWhetherInOneLineOrMany) {
  const auto never = [](const SseEvent&) { return true; };
  SseParser one(20);
  EXPECT_TRUE(fails(one.feed("data: " + std::string(20, 'x'), never), ErrorCode::kIo, {"20"}));
  SseParser many(20);
  std::string lines;
  for (int i = 0; i < 10; ++i) lines += "data: xx\n";
  EXPECT_TRUE(fails(many.feed(lines, never), ErrorCode::kIo, {"20"}));
}

}  // namespace
}  // namespace skein::test
