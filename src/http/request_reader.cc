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
  bool told = false;  // to read the body
};

RequestReader::RequestReader(const ServerOptions& options)
    : state_(std::make_unique<State>(options)) {
  state_->parser.header_limit(static_cast<std::uint32_t>(options.max_header_bytes));
  state_->parser.body_limit(options.max_body_bytes);
}

RequestReader::~RequestReader() = default;

tl::expected<std::size_t, Problem> RequestReader::put(std::string_view bytes) {
  error_code error;
  std::size_t taken = 0;
  while (taken < bytes.size() && !is_done()) {
    if (has_head() && !state_->told) break;
    const std::size_t now =
        state_->parser.put(asio::buffer(bytes.data() + taken, bytes.size() - taken), error);
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
  for (const auto& field : message) {
    head.headers.push_back({std::string(field.name_string()), std::string(field.value())});
    if (field.name() == beast::http::field::content_length) {
      // "2,2" is the same length twice.
      lengths += field.value().find_first_not_of("0123456789") == beast::string_view::npos ? 1 : 2;
    }
    if (field.name() == beast::http::field::transfer_encoding) ++encodings;
  }
  head.chunked = state_->parser.chunked();
  if (state_->parser.content_length()) head.content_length = *state_->parser.content_length();
  // Two ways to tell where a request ends are two places where it may end.
  const bool strange = encodings > 0 && (!head.chunked || !version_11());
  if (lengths + encodings > 1 || strange) {
    return refuse(400, "malformed",
                  "a request has one Content-Length, or one Transfer-Encoding: chunked");
  }
  return head;
}

}  // namespace skein::http
