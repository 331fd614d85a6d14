// Requests that happen once, however often they are sent.
//
// Whoever sends a request with a key of its own may send it again when no answer came. A record of
// the key is written before the work and completed with the answer after it, so that this holds
// between processes and after a crash: a request whose answer was never stored is refused, since
// nobody can tell whether it happened, and is never done twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "skein/clock.h"
#include "skein/store.h"

namespace skein {

namespace limits {
inline constexpr std::size_t kMaxKeptAnswerBytes = std::size_t{1} << 20;
inline constexpr std::int64_t kKeptAnswerMs = 24LL * 3600 * 1000;
// After that long a request that was begun is taken for one whose process died.
inline constexpr std::int64_t kBegunRequestMs = 15LL * 60 * 1000;
}  // namespace limits

// Thread-safe, and kept by nobody: all that it knows is in the store. Borrows its arguments.
class Idempotency {
 public:
  Idempotency(Store& store, Clock& clock) : store_(store), clock_(clock) {}

  struct Request {
    std::string scope;  // whose key it is, and what for: the same key elsewhere is another
    std::string key;    // 1 to limits::kMaxKeyBytes of UTF-8 without control characters
    std::string said;   // all that the request says
  };

  // Nothing: it is the first, and the caller is to finish() or abandon() it. An answer: that of the
  // first. kInvalid: the key. kConflict: the key came with another request, or the outcome of the
  // first is not known. kBusy: the first is under way.
  Result<std::optional<std::string>> begin(const Request& request);

  // Keeps the answer for limits::kKeptAnswerMs. One that is too long is kept as such: asked for
  // again, it is kConflict.
  Result<void> finish(const Request& request, std::string_view answer);

  // Nothing happened: the key is free again.
  Result<void> abandon(const Request& request);

 private:
  Result<std::string> judge(const Request& request, const Record& record);
  void purge(const std::string& from);

  Store& store_;
  Clock& clock_;
};

}  // namespace skein
