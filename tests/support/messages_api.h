// An imitation of models' APIs on loopback (messages_api.py), for as long as it lives: Anthropic's
// Messages API and Chat Completions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/subprocess.h"
#include "support/temp_dir.h"

namespace skein::test {

class MessagesApi {
 public:
  // Which requests take the next answer of the script; others get a short text.
  enum class Takers { kWithTools, kAll };

  // `script` is a JSON array of answers; messages_api.py says what they may be. An imitation that
  // does not start ends the test program.
  explicit MessagesApi(std::string_view script, Takers takers = Takers::kWithTools);

  std::string url() const;  // http://127.0.0.1:PORT
  // The requests that came, each a JSON object with "path", "headers" and "body".
  std::vector<std::string> requests() const;

 private:
  TempDir folder_;
  Subprocess process_;
  std::string port_;
};

}  // namespace skein::test
