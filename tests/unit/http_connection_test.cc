// What a connection tells the request that it carries, without a server behind it.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>

#include "http/listener.h"
#include "support/expect.h"
#include "support/http_server.h"

namespace skein::test {
namespace {

// Each request is answered by a stream; that of "/whole" ends with its first frame.
class Streams final : public http::Receiver {
 public:
  class Stream final : public http::Call {
   public:
    Stream(Streams& all, std::shared_ptr<http::Exchange> exchange, bool whole)
        : all_(all), exchange_(std::move(exchange)), whole_(whole) {}
    void body(std::string /*body*/, http::BodyBytes::Charge /*charge*/) override {
      http::Response response;
      response.header("Content-Type", "text/event-stream");
      exchange_->begin_stream(response, "");
      if (whole_) exchange_->send_frames({http::share("data: all\n\n")}, true);
    }
    void refuse_with(const http::Problem& problem) override {
      exchange_->respond(all_.malformed(problem), true);
    }
    void taken() override { ++all_.taken; }
    void over(bool /*complete*/) override {}

   private:
    Streams& all_;
    const std::shared_ptr<http::Exchange> exchange_;
    const bool whole_;
  };

  std::shared_ptr<http::Call> begin(http::Head head,
                                    std::shared_ptr<http::Exchange> exchange) override {
    return std::make_shared<Stream>(*this, std::move(exchange), head.target == "/whole");
  }
  http::Response malformed(const http::Problem& problem) override {
    return http::problem_response(problem, "");
  }
  void tick(http::SteadyTime /*now*/) override {}

  std::atomic<int> taken{0};
};

class HttpConnections : public testing::Test {
 protected:
  HttpConnections() {
    options_.port = 0;
    listener_ = must(http::Listener::open(options_));
    listener_->start(receiver_);
  }
  ~HttpConnections() override { listener_->stop(); }

  // Behind all that the I/O thread has to do already, and what that has left to be done.
  int taken_so_far() {
    for (int i = 0; i < 2; ++i) {
      std::promise<void> here;
      listener_->post_behind([&] { here.set_value(); });
      here.get_future().get();
    }
    return receiver_.taken;
  }

  http::ServerOptions options_;
  Streams receiver_;
  std::unique_ptr<http::Listener> listener_;
};

TEST_F(HttpConnections, AStreamIsNotToldThatTheOneBeforeWasTaken) {
  HttpConnection connection(listener_->port());
  connection.send_request("GET", "/whole");
  EXPECT_EQ(connection.read_head().status, 200);
  EXPECT_EQ(connection.next_event()->data, "all");
  EXPECT_FALSE(connection.next_event().has_value());
  connection.send_request("GET", "/open");
  EXPECT_EQ(connection.read_head().status, 200);
  EXPECT_EQ(taken_so_far(), 0);
}

}  // namespace
}  // namespace skein::test
