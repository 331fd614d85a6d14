#include "http/request_reader.h"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <utility>

namespace skein::http {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace {

using boost::system::error_code;

// A body that takes memory as it comes, whatever length was announced.
struct GrowingBody {
  using value_type = std::string;
  class reader {
   public:
    template <bool is_request, class Fields>
    reader(beast::http::header<is_request, Fields>& /*head*/, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>& /*length*/, error_code& error) { error = {}; }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, error_code& error) {
      error = {};
      std::size_t taken = 0;
      for (const auto& buffer : beast::buffers_range_ref(buffers)) {
        body_.append(static_cast<const char*>(buffer.data()), buffer.size());
        taken += buffer.size();
      }
      return taken;
    }
    void finish(error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

constexpr std::size_t kLastChunkBytes = std::string_view("0\r\n\r\n").size();

// Where the head of a request ends. What can never become one is found as soon as it is there, and
// whatever the pieces are.
class HeadEnd {
 public:
  enum class Found { kNothing, kEnd, kBad };
  // All bytes so far; looks at those that came since.
  Found look(std::string_view bytes) {
    for (; at_ < bytes.size(); ++at_) {
      const char c = bytes[at_];
      const bool after_return = at_ > 0 && bytes[at_ - 1] == '\r';
      if (after_return != (c == '\n')) return Found::kBad;
      const bool plain = static_cast<unsigned char>(c) >= ' ' && c != 0x7f;
      if (!plain && c != '\r' && c != '\n' && c != '\t') return Found::kBad;
      if (c != '\n') continue;
      const bool empty = at_ == line_ + 1;
      line_ = at_ + 1;
      if (empty) return Found::kEnd;
    }
    return Found::kNothing;
  }
  // One past its last byte, once it was found.
  std::size_t end() const { return line_; }

 private:
  std::size_t at_ = 0;
  std::size_t line_ = 0;  // where the line begins
};

Problem problem_of_parser(const error_code& error, const ServerOptions& options) {
  if (error == beast::http::error::header_limit) {
    return {431, "too_large",
            fmt::format("the head of a request has at most {} bytes", options.max_header_bytes)};
  }
  if (error == beast::http::error::body_limit) {
    return {413, "too_large", fmt::format("a body has at most {} bytes", options.max_body_bytes)};
  }
  return {400, "malformed", "this is not HTTP/1.1: " + error.message()};
}

}  // namespace

struct RequestReader::State {
  const ServerOptions& options;
  beast::http::request_parser<GrowingBody> parser{};
  HeadEnd head_end{};
  bool told = false;  // to read the body
};

RequestReader::RequestReader(const ServerOptions& options)
    : state_(std::make_unique<State>(options)) {
  state_->parser.header_limit(static_cast<std::uint32_t>(options.max_header_bytes));
  state_->parser.body_limit(options.max_body_bytes);
}

RequestReader::~RequestReader() = default;

// The parser gets the head as a whole: in pieces it takes lines that it would refuse otherwise, and
// as many of them as come.
tl::expected<std::size_t, Problem> RequestReader::put_head(std::string_view bytes) {
  const std::size_t most = state_->options.max_header_bytes;
  error_code error;
  const HeadEnd::Found found = state_->head_end.look(bytes.substr(0, most));
  if (found == HeadEnd::Found::kNothing) {
    if (bytes.size() < most) return 0;
    error = beast::http::error::header_limit;
  } else if (found == HeadEnd::Found::kBad) {
    error = beast::http::error::bad_line_ending;
  } else {
    state_->parser.put(asio::buffer(bytes.data(), state_->head_end.end()), error);
    if (!error && !has_head()) error = beast::http::error::partial_message;
  }
  if (error) return tl::unexpected(problem_of_parser(error, state_->options));
  return state_->head_end.end();
}

tl::expected<std::size_t, Problem> RequestReader::put(std::string_view bytes) {
  if (!has_head()) return put_head(bytes);
  error_code error;
  std::size_t taken = 0;
  while (taken < bytes.size() && !is_done() && state_->told) {
    // The parser must not see less than all of the shortest last chunk; more bytes come anyhow.
    const std::size_t left = bytes.size() - taken;
    if (left < kLastChunkBytes && bytes[taken] == '0' && state_->parser.chunked()) break;
    const std::size_t now = state_->parser.put(asio::buffer(bytes.data() + taken, left), error);
    taken += now;
    if (error == beast::http::error::need_more) break;
    if (error) return tl::unexpected(problem_of_parser(error, state_->options));
    if (now == 0) break;
  }
  return taken;
}

bool RequestReader::has_head() const { return state_->parser.is_header_done(); }
bool RequestReader::is_done() const { return state_->parser.is_done(); }
bool RequestReader::keep_alive() const { return state_->parser.keep_alive(); }
bool RequestReader::version_11() const { return state_->parser.get().version() == 11; }

void RequestReader::read_body() {
  state_->told = true;
  state_->parser.eager(true);
}

bool RequestReader::expects_continue() const {
  return beast::iequals(state_->parser.get()[beast::http::field::expect], "100-continue");
}

std::size_t RequestReader::body_bytes() const { return state_->parser.get().body().size(); }
std::string RequestReader::take_body() { return std::move(state_->parser.get().body()); }

tl::expected<Head, Problem> RequestReader::head() const {
  const auto& message = state_->parser.get();
  Head head;
  head.method = std::string(message.method_string());
  head.target = std::string(message.target());
  std::size_t lengths = 0;
  std::size_t encodings = 0;
  bool plain = true;  // the one encoding that is understood, and nothing below it
  for (const auto& field : message) {
    head.headers.push_back({std::string(field.name_string()), std::string(field.value())});
    if (field.name() == beast::http::field::content_length) {
      // "2,2" is the same length twice.
      lengths += field.value().find_first_not_of("0123456789") == beast::string_view::npos ? 1 : 2;
    }
    if (field.name() == beast::http::field::transfer_encoding) {
      ++encodings;
      plain = plain && beast::iequals(field.value(), "chunked");
    }
  }
  head.chunked = state_->parser.chunked();
  if (state_->parser.content_length()) head.content_length = *state_->parser.content_length();
  // Two ways to tell where a request ends are two places where it may end.
  const bool strange = encodings > 0 && (!plain || !head.chunked || !version_11());
  if (lengths + encodings > 1 || strange) {
    return refuse(400, "malformed",
                  "a request has one Content-Length, or one Transfer-Encoding: chunked");
  }
  return head;
}

}  // namespace skein::http
