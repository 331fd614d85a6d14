#include "skein/error.h"

namespace skein {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return "invalid";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kConflict:
      return "conflict";
    case ErrorCode::kBusy:
      return "busy";
    case ErrorCode::kFenced:
      return "fenced";
    case ErrorCode::kDamaged:
      return "damaged";
    case ErrorCode::kIo:
      return "io";
  }
  return "unknown";
}

}  // namespace skein
