// A request is the same one, whatever pieces it comes in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "http/request_reader.h"

namespace skein::http {
namespace {

// How it ended, in words: "400", "waits" or "GET /path body".
std::string understood(std::string_view bytes, std::size_t piece, const ServerOptions& options) {
  RequestReader reader(options);
  std::string unread;
  std::string read;
  for (;;) {
    const auto taken = reader.put(unread);
    if (!taken) return std::to_string(taken.error().status);
    unread.erase(0, *taken);
    if (reader.has_head() && read.empty()) {
      const auto head = reader.head();
      if (!head) return std::to_string(head.error().status);
      read = head->method + " " + head->target;
      reader.read_body();
      if (!reader.is_done() && !unread.empty()) continue;
    }
    if (reader.is_done()) return read + " " + reader.take_body();
    if (*taken > 0 && !unread.empty()) continue;
    if (bytes.empty()) return "waits";
    unread.append(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
}

struct Case {
  std::string bytes;
  std::string is;
};

TEST(HttpRequestReader, UnderstandsTheSameInOnePieceAndInMany) {
  const ServerOptions options;
  const Case cases[] = {
      {"localhost:7171", "waits"},
      {"localhost:7171\r\n\r\n", "400"},
      {"GET /a HTTP/1.1\r\nHost: b\r\n\r\n", "GET /a "},
      {"GET /a HTTP/1.1\r\nHost: b\r\n\r\nGET /b", "GET /a "},
      {"GET /a HTTP/1.1\r\nHost: b\r\n\r", "waits"},
      {"GET /a HTTP/1.1\r\nHost b\r\n\r\n", "400"},
      {"GET /a HTTP/2.2\r\nHost: b\r\n\r\n", "400"},
      {"GET /a HTTP/1.1\nHost: b\n", "400"},
      {"GET /a HTTP/1.1\r\nHost: b\rX: c", "400"},
      {"GET /a HTTP/1.1\r\nHost: b\r\nX: \x01", "400"},
      {"\x16\x03\x01", "400"},  // TLS
      {"\r\nGET /a HTTP/1.1\r\n\r\n", "400"},
      {"GET /a HTTP/1.1\r\nX: a\r\n  b\r\nHost: b\r\n\r\n", "GET /a "},
      {"POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcd", "POST /a abc"},
      {"POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nab", "waits"},
      {"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: u\r\n\r\n",
       "POST /a abc"},
      {"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "POST /a "},
      {"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n00\r\n\r\n", "POST /a "},
      {"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n00\r\n0\r\n\r\n", "POST /a 00"},
      {"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "waits"},
      {"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "400"},
      {"POST /a HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", "POST /a "},
      {"POST /a HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "400"},
      {"POST /a HTTP/1.1\r\nTransfer-Encoding: xx, chunked\r\n\r\n0\r\n\r\n", "400"},
      {"POST /a HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", "400"},
      {"POST /a HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
  };
  for (const Case& one : cases) {
    for (std::size_t piece = 1; piece <= one.bytes.size(); ++piece) {
      EXPECT_EQ(understood(one.bytes, piece, options), one.is)
          << testing::PrintToString(one.bytes) << " in pieces of " << piece;
    }
  }
}

TEST(HttpRequestReader, AHeadHasTheSameLimitInOnePieceAndInMany) {
  ServerOptions options;
  options.max_header_bytes = 1024;
  const std::string line = "GET / HTTP/1.1\r\n";
  const auto head = [&](std::size_t bytes) {
    std::string text = line;
    while (text.size() + 30 < bytes) text += "X-Y: 1\r\n";
    text += "X-Z: ";
    return text + std::string(bytes - text.size() - 4, 'z') + "\r\n\r\n";
  };
  // Pieces that end just behind a line among them.
  for (const std::size_t piece : {1, 2, 7, 8, 9, 16, 17, 24, 1000, 2000}) {
    EXPECT_EQ(understood(head(1024), piece, options), "GET / ") << piece;
    EXPECT_EQ(understood(head(1025), piece, options), "431") << piece;
    EXPECT_EQ(understood(head(5000), piece, options), "431") << piece;
    EXPECT_EQ(understood(line + std::string(2000, 'x'), piece, options), "431") << piece;
  }
}

}  // namespace
}  // namespace skein::http
