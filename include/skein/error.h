// Errors are values. A function that can fail returns Result<T>; nothing throws across a public
// header.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace skein {

// A code exists only where some caller does something else because of it.
enum class ErrorCode {
  kInvalid,  // the caller broke a rule; the message names the rule and the value. Nothing happened.
  kNotFound,  // what was named does not exist. Nothing happened.
  kConflict,  // the world is not as the caller expected it (version, seq, key, id, alias). Nothing
              // happened.
  kBusy,      // somebody else holds the lease; try again later. Nothing happened.
  kFenced,    // the caller's lease was taken over: it must stop writing. Nothing happened.
  kDamaged,   // stored bytes are not what was written; `skein doctor` says more.
  kIo,  // storage failed. What was being written may or may not be there; it was not acknowledged.
};

struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

// The code as a lower-case word: "invalid", "not_found", …
const char* to_string(ErrorCode code);

}  // namespace skein
