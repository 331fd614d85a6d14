#include "support/mcp_stdio.h"

#include <poll.h>
#include <unistd.h>

#include <boost/json/parse.hpp>

#include "support/expect.h"

namespace skein::test {
namespace {

constexpr int kPatienceMs = 60'000;

std::pair<Fd, Fd> make_pipe() {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

}  // namespace

Settings mcp_settings(const std::filesystem::path& folder) {
  Settings settings;
  settings.workspace = folder;
  settings.store_url = "sqlite:" + (folder / ".skein" / "skein.db").string();
  settings.default_agent = "default";
  settings.embedder = "none";
  settings.project = "tests";
  return settings;
}

McpPipes::McpPipes(const std::function<void(mcp::Catalogue&)>& prepare)
    : workspace_(std::make_unique<mcp::Workspace>(
          mcp::Workspace::Parts{.settings = mcp_settings(folder_.path())})) {
  mcp::Catalogue catalogue = mcp::workspace_catalogue(*workspace_);
  if (prepare) prepare(catalogue);
  server_ = std::make_unique<mcp::Server>(*workspace_, std::move(catalogue), mcp::ServerOptions{});
  std::tie(server_in_, in_) = make_pipe();
  std::tie(out_, server_out_) = make_pipe();
  serving_ = std::jthread([this] {
    must(mcp::StdioServer(*server_, server_in_.get(), server_out_.get()).run());
    server_out_.close();
  });
}

McpPipes::~McpPipes() {
  end_input();
  // Somebody must take what it still has to say.
  while (!read().is_null()) continue;
}

void McpPipes::send_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(in_.get(), bytes.data(), bytes.size());
    ASSERT_GT(put, 0);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

void McpPipes::send(std::string_view line) { send_bytes(std::string(line) + "\n"); }

boost::json::value McpPipes::read() {
  LineBuffer::Line line;
  while (!lines_.next(line)) {
    pollfd ready{out_.get(), POLLIN, 0};
    if (::poll(&ready, 1, kPatienceMs) <= 0) {
      ADD_FAILURE() << "the server says nothing";
      return nullptr;
    }
    constexpr std::size_t kBytes = std::size_t{64} << 10;
    char* const room = lines_.room(kBytes);
    const ssize_t got = ::read(out_.get(), room, kBytes);
    if (got <= 0) return nullptr;
    lines_.fill(static_cast<std::size_t>(got));
  }
  return boost::json::parse(line.text);
}

boost::json::value McpPipes::call(std::string_view id, std::string_view method,
                                  std::string_view params) {
  send(std::string(R"({"jsonrpc":"2.0","id":)")
           .append(id)
           .append(R"(,"method":")")
           .append(method)
           .append(R"(","params":)")
           .append(params)
           .append("}"));
  const auto wanted = boost::json::parse(id);
  while (true) {
    boost::json::value message = read();
    if (message.is_null()) return message;
    const auto* object = message.if_object();
    if (object != nullptr && object->contains("id") && object->at("id") == wanted) return message;
  }
}

boost::json::value McpPipes::initialize(std::string_view version) {
  auto answer =
      call("\"begin\"", "initialize",
           std::string(R"({"protocolVersion":")")
               .append(version)
               .append(R"(","capabilities":{},"clientInfo":{"name":"t","version":"1"}})"));
  send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  return answer;
}

void McpPipes::end_input() { in_.close(); }

}  // namespace skein::test
