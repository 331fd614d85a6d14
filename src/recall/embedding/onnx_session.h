// A model in ONNX Runtime, which is loaded as a library when the first model is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skein/error.h"

namespace skein {

// A BERT that answers with a vector for each word piece. Thread-safe; each run is computed on the
// thread that asks for it.
class OnnxSession {
 public:
  // Whether there is a library of that path, or of that name in the system, and one that may be
  // used: new enough, and silent. Loads it.
  static bool can_load(const std::string& library);

  // Whether libraries of that version, as their makers build them, send reports over the network
  // unless the environment forbids it. Calls of the API come too late for the first report.
  static bool reports_home(std::string_view version);

  // With the first of the libraries that can be loaded. `model` are the bytes of an ONNX file; they
  // are not needed afterwards. kIo: no library, or it refuses the model.
  static Result<std::unique_ptr<OnnxSession>> open(const std::vector<std::string>& libraries,
                                                   std::string_view model);
  ~OnnxSession();
  OnnxSession(const OnnxSession&) = delete;
  OnnxSession& operator=(const OnnxSession&) = delete;

  // Hands the vectors of all pieces to `use`: one row for each, one after the other.
  Result<void> run(std::span<std::int64_t> ids,
                   const std::function<void(std::span<const float> rows)>& use) const;

 private:
  struct State;
  explicit OnnxSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace skein
