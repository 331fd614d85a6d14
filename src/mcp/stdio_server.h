// A server over standard input and output: a message a line, in both directions.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/line_buffer.h"
#include "mcp/peer.h"
#include "mcp/server.h"

namespace skein::mcp {

// Requests run one after the other, in the order in which they came, so that a client may send
// several at once and rely on their effects. One that takes long is overtaken by those behind it;
// answers come as they are ready.
//
// What is no message is answered with an error, and the next line is looked at as if nothing had
// been. A client that does not read what it is told is not read from either.
class StdioServer {
 public:
  // Borrows the server and the two files, which stay open.
  StdioServer(Server& server, int in, int out);
  ~StdioServer();
  StdioServer(const StdioServer&) = delete;
  StdioServer& operator=(const StdioServer&) = delete;

  // Serves until the input ends and everything that came by then is answered. kIo: it cannot be
  // read or written.
  Result<void> run();

 private:
  // A request that waits or runs.
  struct Open {
    std::stop_source stop;
    bool cancelled = false;  // under mutex_
  };
  // What came in one line. An array of messages is answered by an array.
  struct Job {
    std::vector<tl::expected<RpcMessage, RpcRefusal>> messages;
    std::vector<std::shared_ptr<Open>> open;  // for each; null: no request
    bool array = false;
    std::size_t bytes = 0;
    std::uint64_t number = 0;  // of those that were started
  };
  using Steady = std::chrono::steady_clock;

  void take_line(const LineBuffer::Line& line);
  void take_array(std::string_view text);
  void take_request(RpcRequest request, std::size_t bytes);
  void take_notification(const RpcNotification& notification);
  std::shared_ptr<Open> open_request(const Json& id);
  void enqueue(Job job);
  std::optional<Job> next_job();
  void work();
  void run_job(Job& job);
  std::optional<std::string> run_request(const RpcRequest& request, Open& open);
  std::optional<std::string> start_listening(const RpcRequest& request, Params& params,
                                             const Exchange& exchange);
  void cancel(const Json& id);
  void write(std::string line);
  void write_out();
  void finish();

  Server& server_;
  const int in_;
  const int out_;

  std::mutex mutex_;
  std::condition_variable changed_;  // jobs_, current_, ended_
  std::condition_variable room_;     // in jobs_
  std::deque<Job> jobs_;             // under mutex_, as all below
  std::size_t waiting_bytes_ = 0;
  bool reader_waits_ = false;  // for room
  std::uint64_t started_ = 0;
  std::uint64_t current_ = 0;    // the last one that was started, while it runs; 0: none does
  std::size_t standing_by_ = 0;  // workers that wait for it to take long
  Steady::time_point last_start_{};
  std::map<std::string, std::shared_ptr<Open>> open_;  // by the text of the id
  bool ended_ = false;                                 // nothing more will come
  std::map<std::string, std::unique_ptr<Watch::Listening>> listening_;

  std::mutex out_mutex_;
  std::condition_variable out_changed_;  // outbox_, out_ended_
  std::string outbox_;                   // under out_mutex_, as all below
  bool writing_ = false;                 // the writer looks into it without being woken
  bool out_ended_ = false;
  std::optional<Error> out_error_;

  Peer peer_;
  std::vector<std::jthread> workers_;
  std::jthread writer_;
};

}  // namespace skein::mcp
