// Other programs, started without a shell and never left behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/file.h"
#include "skein/error.h"

namespace skein {

struct Spawn {
  // What becomes of one of the program's standard streams.
  enum class Stream { kPipe, kNull, kInherit };
  struct Variable {
    std::string name;
    std::optional<std::string> value;  // absent: the program does not get it
  };

  std::vector<std::string> argv;           // argv[0] is looked for in PATH, unless it has a slash
  std::string folder = {};                 // where it starts; empty: where we are
  std::vector<Variable> environment = {};  // changes to our own
  Stream in = Stream::kPipe;
  Stream out = Stream::kPipe;
  Stream err = Stream::kPipe;
};

// How a program ended.
struct Exit {
  int code = 0;    // what it returned, if no signal ended it
  int signal = 0;  // or the signal
  bool ok() const { return code == 0 && signal == 0; }
  std::string str() const;  // "exit code 3", "signal 9"
};

// A running program: the leader of a process group of its own, which gets none of our descriptors
// but its three streams. When this object goes, the group is killed.
//
// One thread may read while another writes; terminate() and kill() may come from any thread. No
// signal reaches the caller for a program that stopped reading.
class Subprocess {
 public:
  // kNotFound: there is no such program.
  static Result<Subprocess> start(const Spawn& spawn);
  ~Subprocess();
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&&) = delete;

  struct Chunk {
    std::string out;
    std::string err;
    bool ended = false;  // both streams are at their end, and nothing more will come
  };

  // What the program has written, at most some 64 KB of each stream; waits up to `wait` for the
  // first byte. Nothing in time is an empty chunk.
  Result<Chunk> read(std::chrono::milliseconds wait);

  // Everything, or an error: kBusy when the program does not take it within `wait` (a part may have
  // gone), kIo when it no longer reads.
  Result<void> write(std::string_view bytes, std::chrono::milliseconds wait);
  // Tells the program that nothing more will come.
  void close_input();

  // Nothing, if it still runs after `wait`. As soon as it has ended, the rest of its group is
  // killed.
  std::optional<Exit> wait(std::chrono::milliseconds wait);

  void terminate();  // SIGTERM to the whole group
  void kill();       // SIGKILL to the whole group
  pid_t pid() const { return pid_; }

 private:
  friend class Exchange;
  explicit Subprocess(pid_t pid) : pid_(pid) {}
  void signal_group(int signal);
  std::optional<Exit> reap_under_lock();

  pid_t pid_ = -1;
  Fd exited_;  // readable once the program has ended
  Fd in_;      // the writer's
  Fd out_;     // the reader's
  Fd err_;     // the reader's

  std::mutex reaping_;        // what is below
  std::optional<Exit> exit_;  // once it was reaped; its pid may be another's from then on
};

struct ProgramLimits {
  std::chrono::milliseconds time{10'000};
  std::size_t output_bytes = std::size_t{16} << 20;  // of each stream
  std::size_t memory_bytes = 0;                      // of its own, files aside; 0: no limit
};

struct Finished {
  Exit exit;
  std::string out;
  std::string err;
};

// Starts a program, hands it `input`, and waits for its end. kBusy: it took longer than the limit,
// and was killed. kInvalid: it wrote more than the limit, and was killed. How it ended otherwise is
// no error here.
Result<Finished> run_program(const Spawn& spawn, std::string_view input,
                             const ProgramLimits& limits);

}  // namespace skein
