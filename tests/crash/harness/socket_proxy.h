// A man in the middle between a client and a PostgreSQL, who loses what he is told to.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "core/file.h"
#include "support/temp_dir.h"

namespace skein::crash {

// Passes everything on between the socket in its own folder and that in the server's. Serves any
// number of connections, one thread for all.
class SocketProxy {
 public:
  explicit SocketProxy(const std::string& server_folder);
  ~SocketProxy();

  std::string folder() const { return own_.path().string(); }

  enum class Loses { kRequest, kAnswer, kAnswerForError };
  // The client's nth message from now on, or the server's answer to it, is lost together with its
  // connection. An answer is lost only after the server gave it: what was asked has happened.
  // kAnswerForError: the connection stays, and the client gets an internal error (XX000) instead of
  // the answer.
  // `meanwhile` is done before the client notices.
  void lose(int nth, Loses what, std::function<void()> meanwhile = {});
  // Whether that has happened.
  bool lost() const { return countdown_ == 0; }

 private:
  struct Pair;
  void serve(const std::stop_token& stop);
  // False: the pair is to be closed.
  bool pass_request(Pair& pair);
  bool pass_answer(Pair& pair);
  void lose_now();

  const std::string server_;
  const test::TempDir own_;
  Fd listener_;
  std::atomic<int> countdown_ = 0;
  std::atomic<Loses> what_ = Loses::kAnswer;
  std::function<void()> meanwhile_;  // not changed while countdown_ is above 0
  std::jthread thread_;
};

}  // namespace skein::crash
