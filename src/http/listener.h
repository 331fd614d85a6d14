// The thread that does all I/O: accepts connections, reads requests, writes answers, and drops who
// is too slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "http/io.h"
#include "http/options.h"

namespace skein::http {

class Listener final : public IoThread {
 public:
  // Listens when it returns; accepts from start() on. kIo: the address cannot be listened at.
  static Result<std::unique_ptr<Listener>> open(const ServerOptions& options);
  // Closes everything.
  ~Listener() override;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::uint16_t port() const;
  // Borrows the receiver, which must live until stop() has returned.
  void start(Receiver& receiver);
  void post(std::function<void()> work) override;
  void post_behind(std::function<void()> work) override;

  // No new connections; those that are idle are closed, others after their answer. Requests whose
  // body is still on its way are refused.
  void drain();
  // Closes all that is left and ends the thread.
  void stop();

  struct Figures {
    std::size_t connections = 0;
    std::uint64_t accepted = 0;
    std::uint64_t dropped = 0;  // too slow, or too many
    std::size_t buffered_bytes = 0;
    std::size_t unsent_bytes = 0;
  };
  Figures figures() const;

 private:
  class Impl;
  explicit Listener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace skein::http
