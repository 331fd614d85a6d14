// A run as the frames that the LangGraph SDK reads.
//
// Frames of what is stored are numbered from 0, the same each time that they are made, so that a
// client goes on behind any of them, in this process or the next. A piece of text that is not
// stored yet has the number of the frame before it and how far the text has come ("4.17"): whoever
// comes again gets the rest of it, and nothing twice.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/langgraph/shared.h"

namespace skein::http {

// Where a reader was: the last frame that it has, and how much of the text after it.
struct FrameCursor {
  std::int64_t frame = -1;
  std::size_t text = 0;

  // "4", "4.17" or "-1". Nothing: it is none of these.
  static std::optional<FrameCursor> parse(std::string_view text);
};

struct RunStreamOptions {
  // What is told. Numbers go by the run's own modes, whatever the reader wants of them: frames of
  // other modes have none, and may be told again to a reader who comes again.
  std::vector<std::string> modes;
  FrameCursor after{};
  // Events that the reader has from before the run was resumed: their frames are only counted.
  Seq known_to = 0;
  bool cancel_when_abandoned = false;
  std::string request{};   // the id of the one that this answers
  bool temporary = false;  // its thread may go when this was read to its end
};

Result<std::unique_ptr<Stream>> run_stream(Shared shared, const Run& run, RunStreamOptions options);

}  // namespace skein::http
