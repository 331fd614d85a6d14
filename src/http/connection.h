// One connection. Everything here is the I/O thread's.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/io.h"
#include "http/options.h"
#include "http/unsent_bytes.h"

namespace skein::http {

// What all connections share.
struct ConnectionShared {
  const ServerOptions& options;
  Receiver& receiver;
  const BodyBytes& bodies;                            // of all requests under way
  std::array<char, std::size_t{64} << 10> scratch{};  // for what was just read
  UnsentBytes unsent{};                               // of answers that clients did not take yet
  std::uint64_t dropped = 0;
  bool draining = false;
  SteadyTime now{};  // as of the last tick or event
  std::function<void(class Connection*)> closed{};
  // Closes the connection whose client takes its answer most slowly, the one given aside. False:
  // all of them take what they get.
  std::function<bool(const class Connection*)> drop_slowest{};
};

class RequestReader;

class Connection final : public Exchange, public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  Connection(Socket socket, ConnectionShared& shared);
  ~Connection() override;

  void start();
  // Drops it, if it is too slow; sends a heartbeat, if a stream is silent.
  void tick();
  // No more requests after the one under way.
  void drain();
  void close();
  // Nothing is under way, since then.
  std::optional<SteadyTime> idle_since() const;
  // Since then its client has taken next to nothing of the much that waits for it.
  std::optional<SteadyTime> stuck_since() const;

  void respond(const Response& response, bool close) override;
  void begin_stream(const Response& response, std::string_view heartbeat) override;
  void send_frames(std::vector<Bytes> frames, bool end) override;
  void cut_stream(Bytes last_words) override;

 private:
  enum class State {
    kIdle,  // no byte of a request yet
    kHead,
    kBody,
    kHandling,   // somebody works on the answer
    kAnswering,  // it is being written
    kStreaming,
    kLingering,  // all is written; what the client still sends is not looked at
    kClosed,
  };

  void wait_for_bytes();
  void on_readable();
  void look_for_end();
  void wait_for_error();
  void ask_if_there();
  void take(std::string_view bytes);
  void read_requests();
  void begin_call();
  void malformed(const Problem& problem);
  void expect_more(std::chrono::milliseconds within);

  // Whether there is room for the answers of all, also for one that is this large.
  bool make_room(std::size_t bytes);
  void queue(Bytes bytes);
  void queue_text(std::string text);
  void send_heartbeat();
  void write_some();
  void on_written(std::size_t bytes);
  void all_written();
  void end_call(bool complete);
  void next_request();
  void linger();

  Socket socket_;
  ConnectionShared& shared_;
  State state_ = State::kIdle;
  SteadyTime deadline_{};
  bool waiting_ = false;  // for bytes
  bool guarded_ = false;  // an error of the connection is waited for
  // Reading does not tell whether the client is there: it is asked then.
  std::optional<SteadyTime> ask_at_{};
  bool keep_ = true;        // after this request
  bool head_only_ = false;  // HEAD
  bool chunked_ = false;    // the stream's answer
  bool version_11_ = true;
  bool reading_ = false;        // inside read_requests
  bool last_frames_ = false;    // the stream ends with what is queued
  bool cut_ = false;            // the connection ends with it
  bool frames_queued_ = false;  // Call::taken() is due
  std::string unread_;          // what no request has taken yet
  std::unique_ptr<RequestReader> reader_;
  std::shared_ptr<Call> call_;
  std::string heartbeat_;
  SteadyTime last_write_{};  // that took something
  SteadyTime on_pace_{};     // when the client had last taken enough
  std::size_t taken_ = 0;    // since then
  std::string remote_;
  BodyBytes::Charge body_;  // as far as it was read
  std::size_t lingered_ = 0;

  std::vector<Bytes> out_;    // to be written
  std::size_t out_sent_ = 0;  // of the first of them
  bool writing_ = false;
};

}  // namespace skein::http
