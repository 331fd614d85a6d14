// A server that is a program of its own: messages as lines over its standard input and output.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "core/line_buffer.h"
#include "core/subprocess.h"
#include "rpc/channel.h"

namespace skein {

// One thread reads and one writes, so that a server that does not read cannot keep us from reading,
// nor the other way round. What the server says on standard error is taken in, and its end is part
// of the message when the server ends. What it writes that is no message is skipped.
//
// In the end its input is closed; if it does not go by itself it is asked to, then killed.
class StdioChannel final : public RpcChannel {
 public:
  // kNotFound: there is no such program.
  static Result<std::unique_ptr<StdioChannel>> start(Spawn spawn, RpcInbox inbox);
  ~StdioChannel() override;

  Result<RpcResponse> call(const RpcCall& call) override;
  void touch(const Json& id) override;
  bool takes_cancellation() const override { return true; }
  Result<void> notify(const RpcNotification& notification) override;
  void set_version(const std::string&) override {}
  Result<void> alive() override;

  pid_t pid() const { return process_.pid(); }

 private:
  struct Pending {
    RpcTime touched;
    std::optional<Result<RpcResponse>> outcome{};
  };

  StdioChannel(Subprocess process, RpcInbox inbox);

  void read_all(const std::stop_token& stop);
  void write_all(const std::stop_token& stop);
  void take_line(const LineBuffer::Line& line);
  void take_message(RpcMessage& message);
  void take_refusal(const RpcRefusal& refusal, std::string_view line);
  void note_last_words(std::string_view text);
  void end(const std::string& why);
  Result<void> enqueue_under_lock(std::string line);
  void settle_under_lock(const std::string& key, Result<RpcResponse> outcome);
  Result<void> ended_under_lock() const;

  Subprocess process_;
  const RpcInbox inbox_;

  std::mutex mutex_;
  std::condition_variable_any changed_;      // outcomes, and the outbox
  std::map<std::string, Pending*> pending_;  // under mutex_; by the text of the id
  std::deque<std::string> outbox_;           // under mutex_
  std::size_t outbox_bytes_ = 0;             // under mutex_
  std::string last_words_;                   // under mutex_; of standard error
  std::optional<std::string> ended_;         // under mutex_; why
  bool writer_done_ = false;                 // under mutex_

  std::jthread reader_;
  std::jthread writer_;
};

}  // namespace skein
