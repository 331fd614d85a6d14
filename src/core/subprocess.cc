#include "core/subprocess.h"
#include "core/find_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "core/quote.h"
#include "core/try.h"

extern char** environ;

namespace skein {
namespace {

using Milliseconds = std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kChunkBytes = std::size_t{64} << 10;

tl::unexpected<Error> program_error(std::string_view doing, const std::string& program,
                                    int error_number) {
  return tl::unexpected(io_error(doing, program, error_number));
}

struct Pipe {
  Fd ours;
  Fd theirs;
};

// `ours_reads`: which end is ours. Only our end is non-blocking; both are closed on exec.
Result<Pipe> make_pipe(bool ours_reads) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return program_error("make", "a pipe", errno);
  Pipe pipe{Fd(ends[ours_reads ? 0 : 1]), Fd(ends[ours_reads ? 1 : 0])};
  ::fcntl(pipe.ours.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

// The arguments of posix_spawn that need to be given back.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // Our end of the pipe, if there is one.
  Result<Fd> connect(int stream, Spawn::Stream kind) {
    if (kind == Spawn::Stream::kInherit) return Fd();
    if (kind == Spawn::Stream::kNull) {
      const int flags = stream == STDIN_FILENO ? O_RDONLY : O_WRONLY;
      posix_spawn_file_actions_addopen(&actions_, stream, "/dev/null", flags, 0);
      return Fd();
    }
    SKEIN_ASSIGN(Pipe pipe, make_pipe(stream != STDIN_FILENO));
    // A descriptor that is already the right number would keep its close-on-exec flag.
    if (pipe.theirs.get() <= STDERR_FILENO) {
      const int higher = ::fcntl(pipe.theirs.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
      if (higher < 0) return program_error("duplicate", "a pipe", errno);
      pipe.theirs = Fd(higher);
    }
    posix_spawn_file_actions_adddup2(&actions_, pipe.theirs.get(), stream);
    theirs_.push_back(std::move(pipe.theirs));
    return std::move(pipe.ours);
  }

  // The errno, 0 when it runs.
  int start(const Spawn& spawn, pid_t& pid) {
    if (!spawn.folder.empty()) {
      posix_spawn_file_actions_addchdir_np(&actions_, spawn.folder.c_str());
    }
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::vector<char*> argv;
    for (const std::string& word : spawn.argv) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    std::vector<std::string> variables = environment_of(spawn);
    std::vector<char*> environment;
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    // Found before the folder is changed: PATH is about where the user is, not about the folder.
    const bool by_path = spawn.argv[0].find('/') == std::string::npos;
    const auto program = by_path ? find_program(spawn.argv[0]) : std::optional(spawn.argv[0]);
    if (!program) return ENOENT;
    return ::posix_spawn(&pid, program->c_str(), &actions_, &attributes_, argv.data(),
                         environment.data());
  }

 private:
  static std::vector<std::string> environment_of(const Spawn& spawn) {
    std::vector<std::string> variables;
    const auto names = [](std::string_view entry, const std::string& name) {
      return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
    };
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const bool changed =
          std::any_of(spawn.environment.begin(), spawn.environment.end(),
                      [&](const Spawn::Variable& change) { return names(*entry, change.name); });
      if (changed) continue;
      const bool is_path = std::string_view(*entry).starts_with("PATH=");
      variables.push_back(is_path ? "PATH=" + absolute_path_entries() : *entry);
    }
    for (const Spawn::Variable& change : spawn.environment) {
      if (change.value) variables.push_back(change.name + "=" + *change.value);
    }
    return variables;
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  std::vector<Fd> theirs_;
};

// Keeps SIGPIPE from this thread while it lives, and swallows the one that a write has caused.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    pending_before_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~NoSigpipe() {
    const int saved = errno;
    constexpr timespec kAtOnce{0, 0};
    if (!pending_before_) sigtimedwait(&sigpipe_, nullptr, &kAtOnce);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = saved;
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t sigpipe_{};
  sigset_t before_{};
  bool pending_before_ = false;
};

// How many bytes went; 0 when there is no room.
Result<std::size_t> write_some(const Fd& fd, std::string_view bytes) {
  const NoSigpipe guard;
  while (true) {
    const ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno == EAGAIN) return std::size_t{0};
    if (errno != EINTR) return program_error("write", "to a program", errno);
  }
}

// Appends what is there, up to a chunk; closes the stream at its end.
void read_some(Fd& fd, std::string& into) {
  const std::size_t before = into.size();
  into.resize(before + kChunkBytes);
  ssize_t n = 0;
  do {
    n = ::read(fd.get(), into.data() + before, kChunkBytes);
  } while (n < 0 && errno == EINTR);
  const bool again = n < 0 && errno == EAGAIN;
  into.resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  if (n <= 0 && !again) fd.close();
}

int poll_until(std::span<pollfd> fds, SteadyClock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<Milliseconds>(deadline - SteadyClock::now());
    const int timeout = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000'000));
    const int ready = ::poll(fds.data(), fds.size(), timeout);
    if (ready >= 0 || errno != EINTR) return ready;
  }
}

// The system ends each of these at a NUL: the program would get another value than was checked.
Result<void> check_spawn(const Spawn& spawn) {
  if (spawn.argv.empty() || spawn.argv.front().empty()) {
    return fail(ErrorCode::kInvalid, "there is no program to start");
  }
  const auto check = [](std::string_view what, const std::string& value) -> Result<void> {
    if (value.find('\0') == std::string::npos) return {};
    return fail(ErrorCode::kInvalid,
                std::string(what) + " of a program must not have a NUL, got " + quote(value));
  };
  for (const std::string& argument : spawn.argv) SKEIN_TRY(check("an argument", argument));
  SKEIN_TRY(check("the folder", spawn.folder));
  for (const Spawn::Variable& variable : spawn.environment) {
    if (variable.name.empty() || variable.name.find('=') != std::string::npos) {
      return fail(ErrorCode::kInvalid,
                  "the name of an environment variable must not be empty or have a \"=\", got " +
                      quote(variable.name));
    }
    SKEIN_TRY(check("an environment variable", variable.name));
    if (!variable.value) continue;
    if (variable.value->find('\0') == std::string::npos) continue;
    // The value may be a secret.
    return fail(ErrorCode::kInvalid, "the value of the environment variable " +
                                         quote(variable.name) + " must not have a NUL");
  }
  return {};
}

pollfd readable(const Fd& fd) { return {fd.get(), POLLIN, 0}; }

}  // namespace

std::string Exit::str() const {
  return signal != 0 ? "signal " + std::to_string(signal) : "exit code " + std::to_string(code);
}

Result<Subprocess> Subprocess::start(const Spawn& spawn) {
  SKEIN_TRY(check_spawn(spawn));
  SpawnPlan plan;
  SKEIN_ASSIGN(Fd in, plan.connect(STDIN_FILENO, spawn.in));
  SKEIN_ASSIGN(Fd out, plan.connect(STDOUT_FILENO, spawn.out));
  SKEIN_ASSIGN(Fd err, plan.connect(STDERR_FILENO, spawn.err));
  pid_t pid = -1;
  if (const int error = plan.start(spawn, pid); error != 0) {
    return program_error("start", spawn.argv[0], error);
  }
  Subprocess process(pid);
  process.in_ = std::move(in);
  process.out_ = std::move(out);
  process.err_ = std::move(err);
  process.exited_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.exited_.is_open()) return program_error("watch", spawn.argv[0], errno);
  return process;
}

Subprocess::Subprocess(Subprocess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      exited_(std::move(other.exited_)),
      in_(std::move(other.in_)),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)),
      exit_(other.exit_) {}

Subprocess::~Subprocess() {
  if (pid_ < 0) return;
  kill();
  const std::lock_guard lock(reaping_);
  if (!exit_) ::waitpid(pid_, nullptr, 0);
}

Result<Subprocess::Chunk> Subprocess::read(Milliseconds wait) {
  Chunk chunk;
  std::array<pollfd, 2> fds = {readable(out_), readable(err_)};
  if (out_.is_open() || err_.is_open()) {
    if (poll_until(fds, SteadyClock::now() + wait) < 0) {
      return program_error("read", "from a program", errno);
    }
    if (fds[0].revents != 0) read_some(out_, chunk.out);
    if (fds[1].revents != 0) read_some(err_, chunk.err);
  }
  chunk.ended = !out_.is_open() && !err_.is_open();
  return chunk;
}

Result<void> Subprocess::write(std::string_view bytes, Milliseconds wait) {
  if (!in_.is_open()) return fail(ErrorCode::kIo, "the program's input is closed");
  const auto deadline = SteadyClock::now() + wait;
  while (!bytes.empty()) {
    SKEIN_ASSIGN(const std::size_t sent, write_some(in_, bytes));
    bytes.remove_prefix(sent);
    if (sent > 0) continue;
    std::array<pollfd, 1> fds = {pollfd{in_.get(), POLLOUT, 0}};
    if (poll_until(fds, deadline) == 0) {
      return fail(ErrorCode::kBusy,
                  "the program took no input for " + std::to_string(wait.count()) + " ms");
    }
  }
  return {};
}

void Subprocess::close_input() { in_.close(); }

// The group is signalled before its leader is reaped: until then the number is nobody else's.
std::optional<Exit> Subprocess::reap_under_lock() {
  if (exit_) return exit_;
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) != 0 ||
      info.si_pid == 0) {
    return std::nullopt;
  }
  ::kill(-pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  exit_ = WIFSIGNALED(status) ? Exit{0, WTERMSIG(status)} : Exit{WEXITSTATUS(status), 0};
  return exit_;
}

std::optional<Exit> Subprocess::wait(Milliseconds wait) {
  std::array<pollfd, 1> fds = {readable(exited_)};
  poll_until(fds, SteadyClock::now() + wait);
  const std::lock_guard lock(reaping_);
  return reap_under_lock();
}

void Subprocess::signal_group(int signal) {
  const std::lock_guard lock(reaping_);
  if (!exit_) ::kill(-pid_, signal);
}

void Subprocess::terminate() { signal_group(SIGTERM); }
void Subprocess::kill() { signal_group(SIGKILL); }

// One program run to its end: input, both outputs and the exit are watched together, so that none
// can hold up another.
class Exchange {
 public:
  Exchange(Subprocess& process, std::string_view input, const ProgramLimits& limits)
      : process_(process),
        input_(input),
        limits_(limits),
        deadline_(SteadyClock::now() + limits.time) {}

  Result<Finished> run() {
    while (!exit_) SKEIN_TRY(step());
    // What it wrote last may still be in the pipes; what others hold open is not waited for.
    while (pending()) SKEIN_TRY(drain());
    return Finished{*exit_, std::move(out_), std::move(err_)};
  }

 private:
  Result<void> step() {
    if (input_.empty()) process_.close_input();
    std::array<pollfd, 4> fds = {pollfd{process_.in_.get(), POLLOUT, 0}, readable(process_.out_),
                                 readable(process_.err_), readable(process_.exited_)};
    const int ready = poll_until(fds, deadline_);
    if (ready == 0) {
      process_.kill();
      return fail(ErrorCode::kBusy, "it took longer than " + std::to_string(limits_.time.count()) +
                                        " ms and was stopped");
    }
    if (ready < 0) return program_error("wait", "for a program", errno);
    if (fds[0].revents != 0) feed();
    if (fds[1].revents != 0) read_some(process_.out_, out_);
    if (fds[2].revents != 0) read_some(process_.err_, err_);
    if (fds[3].revents != 0) exit_ = process_.wait(Milliseconds(0));
    return check_size();
  }

  // A program need not read all of its input.
  void feed() {
    const auto sent = write_some(process_.in_, input_);
    input_.remove_prefix(sent ? *sent : input_.size());
  }

  bool pending() {
    std::array<pollfd, 2> fds = {readable(process_.out_), readable(process_.err_)};
    return poll_until(fds, SteadyClock::now()) > 0;
  }

  Result<void> drain() {
    if (process_.out_.is_open()) read_some(process_.out_, out_);
    if (process_.err_.is_open()) read_some(process_.err_, err_);
    return check_size();
  }

  Result<void> check_size() {
    if (std::max(out_.size(), err_.size()) <= limits_.output_bytes) return {};
    process_.kill();
    return fail(ErrorCode::kInvalid,
                "it wrote more than " + std::to_string(limits_.output_bytes) + " bytes");
  }

  Subprocess& process_;
  std::string_view input_;
  const ProgramLimits limits_;
  const SteadyClock::time_point deadline_;
  std::optional<Exit> exit_;
  std::string out_;
  std::string err_;
};

Result<Finished> run_program(const Spawn& spawn, std::string_view input,
                             const ProgramLimits& limits) {
  SKEIN_ASSIGN(Subprocess process, Subprocess::start(spawn));
  if (limits.memory_bytes > 0) {
    // It has run for a moment by now, and may have ended.
    const struct rlimit memory{limits.memory_bytes, limits.memory_bytes};
    ::prlimit(process.pid(), RLIMIT_DATA, &memory, nullptr);
  }
  auto finished = Exchange(process, input, limits).run();
  if (!finished) {
    finished.error().message = spawn.argv[0] + ": " + finished.error().message;
  }
  return finished;
}

}  // namespace skein
