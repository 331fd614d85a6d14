#include "http/listener.h"

#include <gtest/gtest.h>

#include <chrono>
#include <latch>

#include "support/expect.h"

namespace skein::http {
namespace {

using namespace std::chrono_literals;

class NoReceiver final : public Receiver {
 public:
  std::shared_ptr<Call> begin(Head, std::shared_ptr<Exchange>) override { return nullptr; }
  Response malformed(const Problem& problem) override { return problem_response(problem, ""); }
  void tick(SteadyTime) override {}
};

// The timer runs out while the thread is busy, so that its handler is queued when stop() cancels
// it.
TEST(HttpListener, StopsAlsoWhenItsTimerHasJustRunOut) {
  ServerOptions options;
  options.port = 0;
  const auto listener = test::must(Listener::open(options));
  NoReceiver receiver;
  listener->start(receiver);
  std::latch is_busy{1};
  listener->post([&] {
    is_busy.count_down();
    const auto until = std::chrono::steady_clock::now() + 600ms;
    while (std::chrono::steady_clock::now() < until) {
    }
  });
  is_busy.wait();
  listener->stop();
}

}  // namespace
}  // namespace skein::http
