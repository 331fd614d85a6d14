// Reads requests as HTTP/1.1 has them, from whatever pieces they come in.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "http/io.h"
#include "http/options.h"

namespace skein::http {

// One request. What another reader might understand differently is refused. For one thread.
class RequestReader {
 public:
  // Borrows the options.
  explicit RequestReader(const ServerOptions& options);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // How many bytes it took; the others are to come again, with more behind them. Reads no further
  // than the end of the head, until read_body(). A problem is the end of it.
  tl::expected<std::size_t, Problem> put(std::string_view bytes);

  bool has_head() const;
  // Once, when there is one. A problem: where the request ends is in doubt.
  tl::expected<Head, Problem> head() const;
  bool keep_alive() const;
  bool version_11() const;
  bool expects_continue() const;

  void read_body();
  bool is_done() const;
  std::size_t body_bytes() const;  // so far
  std::string take_body();

 private:
  tl::expected<std::size_t, Problem> put_head(std::string_view bytes);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace skein::http
