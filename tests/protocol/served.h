// `skein serve`, on a free port of loopback, for as long as a test needs it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/subprocess.h"

namespace skein::test {

// A server that does not start ends the test program.
class Served {
 public:
  explicit Served(const std::filesystem::path& workspace,
                  const std::vector<std::string>& more = {});

  const std::string& url() const { return url_; }  // http://127.0.0.1:PORT
  std::string mcp_url() const { return url_ + "/mcp"; }

 private:
  Subprocess process_;
  std::string url_;
};

}  // namespace skein::test
