#include "core/line_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace skein {
namespace {

// Puts `text` in by pieces of `step` bytes and describes the lines that come out.
std::vector<std::string> lines_of(std::string_view text, std::size_t step, std::size_t limit = 10) {
  std::vector<std::string> out;
  LineBuffer buffer(limit);
  LineBuffer::Line line;
  const auto take = [&] {
    while (buffer.next(line)) {
      out.push_back(std::to_string(line.number) + ":" + std::string(line.text) +
                    (line.too_long ? " too long" : "") + (line.complete ? "" : " cut"));
    }
  };
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, step);
    std::copy(piece.begin(), piece.end(), buffer.room(piece.size() + 3));
    buffer.fill(piece.size());
    text.remove_prefix(piece.size());
    take();
  }
  buffer.end();
  take();
  return out;
}

TEST(LineBuffer, GivesTheSameLinesHoweverTheBytesCome) {
  const std::vector<std::string> expected = {"1:one", "2:", "3:three", "4:4 cut"};
  for (std::size_t step = 1; step <= 20; ++step) {
    EXPECT_EQ(lines_of("one\n\nthree\n4", step), expected) << "by " << step;
  }
}

TEST(LineBuffer, DropsALineBeyondTheLimitAndKeepsItsNeighbours) {
  const std::vector<std::string> expected = {"1:exactly 10", "2: too long", "3:next"};
  for (std::size_t step = 1; step <= 40; ++step) {
    EXPECT_EQ(lines_of("exactly 10\n12345678901\nnext\n", step), expected) << "by " << step;
  }
}

TEST(LineBuffer, HasNoLineAfterALastLineFeed) {
  EXPECT_EQ(lines_of("a\n", 5), std::vector<std::string>{"1:a"});
  EXPECT_TRUE(lines_of("", 5).empty());
}

TEST(LineBuffer, TellsOfALastLineThatIsTooLong) {
  EXPECT_EQ(lines_of("123456789012345678901234567890", 4),
            std::vector<std::string>{"1: too long cut"});
}

}  // namespace
}  // namespace skein
