#include "runner/run_stream.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "core/pause.h"
#include "core/quote.h"
#include "core/try.h"
#include "runner/run_codec.h"

namespace skein {
namespace {

using SteadyClock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::uint64_t kEventsAtOnce = 64;
constexpr std::chrono::milliseconds kLookUp = 25ms;  // at runs of other processes

// The last stored event that was told, and how much of what came after it.
struct Position {
  Seq seq = 0;
  std::size_t text = 0;
  std::size_t thinking = 0;

  std::string str() const { return fmt::format("{}.{}.{}", seq, text, thinking); }
};

Result<Position> parse_position(std::string_view text) {
  Position position;
  if (text.empty()) return position;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](auto& value, char after) {
    const auto [next, wrong] = std::from_chars(at, end, value);
    if (wrong != std::errc()) return false;
    at = next;
    if (after == '\0') return at == end;
    return at != end && *at++ == after;
  };
  if (number(position.seq, '.') && number(position.text, '.') && number(position.thinking, '\0')) {
    return position;
  }
  return fail(ErrorCode::kInvalid,
              "position must be one that a run's stream gave, got " + quote(text));
}

class Stream : public RunStream {
 public:
  Stream(Store& store, const RunBook& book, std::shared_ptr<LiveRun> live, std::string run_id,
         ThreadId thread, Position position)
      : store_(store),
        book_(book),
        live_(std::move(live)),
        run_id_(std::move(run_id)),
        thread_(thread),
        position_(position),
        read_to_(position.seq) {}

  bool ended() const override { return ended_; }

  Result<std::optional<RunEvent>> next(std::chrono::milliseconds wait,
                                       std::stop_token stop) override {
    const auto until = SteadyClock::now() + wait;
    while (!ended_ && !stop.stop_requested()) {
      SKEIN_ASSIGN(auto event, live_ ? look_at_live() : look_at_store());
      if (event) return event;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - SteadyClock::now());
      if (ended_ || left <= 0ms) break;
      if (live_) {
        live_->wait_for_change(seen_, left, stop);
      } else {
        pause_for(std::min(left, kLookUp), stop);
      }
    }
    return std::nullopt;
  }

 private:
  Result<std::optional<RunEvent>> look_at_live() {
    const LiveRun::View view = live_->view(position_.seq, position_.text, position_.thinking);
    seen_ = view.changes;
    if (!view.ended && told_ != view.run.status) return tell_status(view.run);
    SKEIN_ASSIGN(auto stored, next_stored(view.last_seq));
    if (stored) return stored;
    if (position_.seq < view.last_seq) position_ = {view.last_seq, 0, 0};
    if (!view.thinking.empty()) {
      position_.thinking += view.thinking.size();
      return RunEvent{
          .kind = RunEventKind::kThinking, .position = position_.str(), .text = view.thinking};
    }
    if (!view.text.empty()) {
      position_.text += view.text.size();
      return RunEvent{.kind = RunEventKind::kText, .position = position_.str(), .text = view.text};
    }
    if (!view.ended) return std::nullopt;
    ended_ = true;
    return tell_status(view.run);
  }

  Result<std::optional<RunEvent>> look_at_store() {
    // The record first: when it has ended, all its events are there.
    SKEIN_ASSIGN(const auto run, book_.find(run_id_));
    if (!run) return fail(ErrorCode::kNotFound, "there is no run " + run_id_);
    if (!run->ended() && told_ != run->status) return tell_status(*run);
    SKEIN_ASSIGN(auto stored, next_stored(run->ended() ? run->last_seq : kLastSeq));
    if (stored) return stored;
    if (!run->ended()) return std::nullopt;
    ended_ = true;
    return tell_status(*run);
  }

  RunEvent tell_status(const Run& run) {
    told_ = run.status;
    return {.kind = RunEventKind::kStatus, .position = position_.str(), .run = run};
  }

  Result<std::optional<RunEvent>> next_stored(Seq last) {
    while (ready_.empty() && read_to_ < last) {
      ReadRange range;
      range.from = read_to_ + 1;
      range.limit = kEventsAtOnce;
      range.head = last;
      bool any = false;
      SKEIN_TRY(store_.read(thread_, range, [&](Event& event) {
        any = true;
        read_to_ = event.seq;
        if (run_of(event) == run_id_) ready_.push_back(std::move(event));
        return true;
      }));
      if (!any) break;
    }
    if (ready_.empty()) return std::nullopt;
    Event event = std::move(ready_.front());
    ready_.pop_front();
    position_ = {event.seq, 0, 0};
    return RunEvent{
        .kind = RunEventKind::kEvent, .position = position_.str(), .event = std::move(event)};
  }

  Store& store_;
  const RunBook& book_;
  const std::shared_ptr<LiveRun> live_;
  const std::string run_id_;
  const ThreadId thread_;
  Position position_;
  Seq read_to_;
  std::deque<Event> ready_;
  std::optional<RunStatus> told_;
  std::uint64_t seen_ = 0;
  bool ended_ = false;
};

}  // namespace

Result<std::unique_ptr<RunStream>> open_run_stream(Store& store, const RunBook& book,
                                                   std::shared_ptr<LiveRun> live,
                                                   std::string_view run_id,
                                                   std::string_view position) {
  SKEIN_ASSIGN(const ThreadId thread, thread_of_run(run_id));
  SKEIN_ASSIGN(Position from, parse_position(position));
  SKEIN_ASSIGN(const auto run, book.find(run_id));
  if (!run && !live) {
    return fail(ErrorCode::kNotFound, "there is no run " + std::string(run_id));
  }
  // Nothing of the run lies before what it began from.
  if (from.seq == 0 && run) from.seq = run->first_seq > 0 ? run->first_seq - 1 : run->base_seq;
  return std::make_unique<Stream>(store, book, std::move(live), std::string(run_id), thread, from);
}

}  // namespace skein
