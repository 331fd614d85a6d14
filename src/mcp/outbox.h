// Frames on their way to one reader, who takes them when it can.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace skein::mcp {

// "event: message" with one message as its data; `id` empty: none.
std::string event_frame(std::string_view message, std::string_view id);
// An event without data, which tells a reader where it is and when to come again.
std::string priming_frame(std::string_view id);

// Thread-safe. More than limits::kMaxOutboxBytes that nobody takes ends it.
class Outbox {
 public:
  struct Taken {
    std::vector<std::string> frames;  // in order
    bool more = false;                // there is more already
    bool ended = false;               // nothing will follow
  };

  // False: it has ended, or its reader went; nothing was put in.
  bool put(std::string frame);
  // What is in it can still be taken.
  void end();

  // --- For the reader ---
  // `wake` is called, from any thread, when there is something to take; at once, if there is.
  void on_more(std::function<void()> wake);
  Taken take(std::size_t max_bytes);
  // It takes nothing more.
  void abandon();

  // Called once when the reader went before the end, on its thread. Before anything is put in.
  void on_abandoned(std::function<void()> told) { abandoned_told_ = std::move(told); }

 private:
  std::function<void()> abandoned_told_;
  std::mutex mutex_;
  std::deque<std::string> frames_;  // under mutex_, as all below
  std::size_t bytes_ = 0;
  bool ended_ = false;
  bool abandoned_ = false;
  std::function<void()> wake_;
};

}  // namespace skein::mcp
