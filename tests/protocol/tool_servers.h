// Real MCP servers from npm, for as long as a test needs them.
#pragma once

#include <string>
#include <vector>

#include "core/subprocess.h"
#include "skein/engine.h"

namespace skein::test {

// The node that the tests bring along.
std::string node_program();
// A file in the tree of packages.
std::string npm_path(const std::string& path);

// Over standard input and output.
ToolServer everything_server();
ToolServer filesystem_server(const std::string& folder);
ToolServer modern_server(const std::vector<std::string>& more = {});

// Over HTTP, on a free port of loopback. A server that does not start ends the test program.
class HttpToolServer {
 public:
  static HttpToolServer everything();
  static HttpToolServer modern(const std::vector<std::string>& more = {});

  ToolServer server() const { return {.name = "remote", .url = url_}; }
  void stop() { process_.kill(); }

 private:
  // Waits until the program says `words`; what follows them, up to the line's end, is its port.
  HttpToolServer(Spawn spawn, const std::string& words);

  Subprocess process_;
  std::string url_;
};

}  // namespace skein::test
