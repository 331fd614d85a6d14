// `skein serve` as a process of its own.
#pragma once

#include <algorithm>
#include <boost/json/parse.hpp>
#include <csignal>
#include <string>
#include <vector>

#include "program.h"
#include "support/http_server.h"

namespace skein::test {

class Serving {
 public:
  explicit Serving(const Workspace& workspace, std::vector<std::string> more = {})
      : Serving(workspace.start(arguments(std::move(more)))) {}
  // A server that was started with arguments().
  explicit Serving(Running running) : running_(std::move(running)) {
    const auto line = running_.read_line();
    if (!line) {
      const Ran ran = running_.finish();
      ADD_FAILURE() << "the server did not start: " << ran;
      return;
    }
    const auto said = boost::json::parse(*line);
    port_ = static_cast<std::uint16_t>(said.at("port").to_number<int>());
  }

  std::uint16_t port() const { return port_; }
  Running& process() { return running_; }

  Answered ask(std::string_view method, std::string_view target, std::string_view body = {},
               std::string_view key = {}) const {
    std::vector<HttpHeader> headers;
    if (!key.empty()) headers.push_back({"X-Api-Key", std::string(key)});
    return HttpConnection(port_).ask(method, target, body, headers);
  }

  // A figure of /metrics.
  double figure(const std::string& name) const {
    const std::string text = ask("GET", "/metrics").body;
    const std::size_t at = text.find("\n" + name + " ");
    if (at == std::string::npos) {
      ADD_FAILURE() << "no " << name << " in\n" << text;
      return -1;
    }
    return std::strtod(text.c_str() + at + name.size() + 2, nullptr);
  }
  double resident_mb() const { return figure("process_resident_memory_bytes") / (1 << 20); }

  Ran stop(int signal = SIGTERM) {
    running_.signal(signal);
    return running_.finish();
  }

 private:
  static std::vector<std::string> arguments(std::vector<std::string> more) {
    std::vector<std::string> all = {"serve", "--json"};
    if (std::find(more.begin(), more.end(), "--port") == more.end()) {
      more.insert(more.end(), {"--port", "0"});
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  Running running_;
  std::uint16_t port_ = 0;
};

}  // namespace skein::test
