#include "tool_servers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <filesystem>

#include "support/expect.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;

const std::string kFolder = SKEIN_SOURCE_DIR "/tests/protocol";

// Nobody listens there now; the kernel hands ports out in turn, so that it stays so for a while.
int free_port() {
  const Fd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(probe.get(), generic, size), 0);
  EXPECT_EQ(::getsockname(probe.get(), generic, &size), 0);
  return ntohs(address.sin_port);
}

}  // namespace

std::string npm_path(const std::string& path) {
  std::string whole = kFolder + "/node_modules/" + path;
  EXPECT_TRUE(std::filesystem::exists(whole)) << "run tools/setup: there is no " << whole;
  return whole;
}

std::string node_program() { return SKEIN_NODE; }

ToolServer everything_server() {
  return {.name = "everything",
          .command = {node_program(),
                      npm_path("@modelcontextprotocol/server-everything/dist/index.js"), "stdio"}};
}

ToolServer filesystem_server(const std::string& folder) {
  return {.name = "files",
          .command = {node_program(),
                      npm_path("@modelcontextprotocol/server-filesystem/dist/index.js"), folder}};
}

ToolServer modern_server(const std::vector<std::string>& more) {
  ToolServer server{.name = "modern", .command = {node_program(), kFolder + "/servers/modern.mjs"}};
  server.command.insert(server.command.end(), more.begin(), more.end());
  return server;
}

HttpToolServer HttpToolServer::everything() {
  const std::string port = std::to_string(free_port());
  Spawn spawn{.argv = everything_server().command, .environment = {{"PORT", port}}};
  spawn.argv.back() = "streamableHttp";
  return {std::move(spawn), "listening on port "};
}

HttpToolServer HttpToolServer::modern(const std::vector<std::string>& more) {
  Spawn spawn{.argv = modern_server(more).command};
  spawn.argv.push_back("http");
  return {std::move(spawn), "PORT "};
}

HttpToolServer::HttpToolServer(Spawn spawn, const std::string& words)
    : process_(must(Subprocess::start(spawn))) {
  std::string said;
  std::size_t at = std::string::npos;
  while ((at = said.find(words)) == std::string::npos || said.find('\n', at) == std::string::npos) {
    const auto chunk = must(process_.read(60s));
    said += chunk.out + chunk.err;
    if (chunk.ended) must(Result<void>(fail(ErrorCode::kIo, "no server: " + said)));
  }
  at += words.size();
  url_ =
      "http://127.0.0.1:" + said.substr(at, said.find_first_not_of("0123456789", at) - at) + "/mcp";
}

}  // namespace skein::test
