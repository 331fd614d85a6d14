// Fills the disk that a store lies on, and looks at what the store does then.
//
//   full_disk URL JOURNAL BALLAST LEAVE_KB [--full-at-open]
//
// BALLAST is a file on the same disk, which takes all room but LEAVE_KB; JOURNAL lies elsewhere.
// Prints what is wrong, a line each, and exits with 1 if something is. With --full-at-open the
// store is opened when there is no room any more; "cannot be opened while full" is then said, and
// is no failure.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "crash/harness/verify.h"
#include "crash/harness/writer.h"

namespace {

using namespace skein;
using namespace skein::crash;

constexpr std::uint64_t kOpsBefore = 30;
constexpr std::uint64_t kOpsWhileFull = 300;
constexpr std::uint64_t kOpsAfter = 40;

class Ballast {
 public:
  explicit Ballast(const char* path) : fd_(::open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {}
  ~Ballast() { ::close(fd_); }
  Ballast(const Ballast&) = delete;
  Ballast& operator=(const Ballast&) = delete;

  void take_all_but(off_t kilobytes) {
    const std::string block(1024, 'x');
    off_t size = 0;
    while (::write(fd_, block.data(), block.size()) == static_cast<ssize_t>(block.size()))
      size += 1024;
    ::fsync(fd_);
    if (kilobytes > 0) (void)!::ftruncate(fd_, std::max<off_t>(0, size - kilobytes * 1024));
    ::fsync(fd_);
  }
  void give_back() {
    (void)!::ftruncate(fd_, 0);
    ::fsync(fd_);
  }

 private:
  int fd_;
};

class FullDisk {
 public:
  FullDisk(char** argv, bool full_at_open)
      : url_(argv[1]),
        journal_path_(argv[2]),
        journal_fd_(::open(argv[2], O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600)),
        journal_(journal_fd_),
        ballast_(argv[3]),
        leave_kilobytes_(std::atoll(argv[4])),
        full_at_open_(full_at_open) {
    workload_.writers = 1;
    workload_.shared_threads = 2;
  }

  bool run() {
    if (!open()) return false;
    if (!make_shared_threads(*store_, workload_)) return problem("setup failed");
    journal_.line(workload_line(workload_));
    Writer writer(workload_, 0, journal_,
                  {.ops = kOpsBefore, .go_on_after_errors = true, .acknowledge_early = false});
    writer.run(*store_, stop_);
    if (writer.first_error()) return problem("before: " + writer.first_error()->message);

    if (full_at_open_) store_.reset();
    ballast_.take_all_but(leave_kilobytes_);
    if (full_at_open_ && !open_while_full()) return reopen_and_verify();

    writer.go_on_for(kOpsWhileFull);
    writer.run(*store_, stop_);
    if (!writer.first_error()) problem("the disk was full, and nothing failed");
    look("while full", {.feed = false, .exact_feed = false, .write_on = false});

    ballast_.give_back();
    const std::uint64_t failed = failures();
    writer.go_on_for(kOpsAfter);
    writer.run(*store_, stop_);
    if (failures() > failed) problem("room returned, but writes still fail");
    look("afterwards", {.feed = true, .exact_feed = false, .write_on = false});
    return reopen_and_verify();
  }

 private:
  bool problem(const std::string& text) {
    std::printf("%s\n", text.c_str());
    good_ = false;
    return false;
  }

  bool open() {
    auto store = open_store(url_);
    if (!store) return problem("open: " + store.error().message);
    store_ = *std::move(store);
    return true;
  }

  bool open_while_full() {
    auto store = open_store(url_);
    if (store)
      store_ = *std::move(store);
    else
      std::printf("cannot be opened while full: %s\n", store.error().message.c_str());
    if (!store) ballast_.give_back();
    return store.has_value();
  }

  std::uint64_t failures() {
    const auto journal = Journal::load(journal_path_);
    std::uint64_t count = 0;
    for (const auto& [number, outcomes] : journal->done.front()) {
      for (const Outcome& outcome : outcomes) count += outcome.error == "io" ? 1 : 0;
    }
    return count;
  }

  void look(const char* when, const VerifyOptions& options) {
    const auto journal = Journal::load(journal_path_);
    for (const std::string& text : verify(*store_, *journal, options))
      problem(std::string(when) + ": " + text);
  }

  bool reopen_and_verify() {
    store_.reset();
    if (!open()) return false;
    look("reopened", {.feed = true, .exact_feed = false, .write_on = true});
    return good_;
  }

  const std::string url_;
  const std::string journal_path_;
  const int journal_fd_;
  JournalWriter journal_;
  Ballast ballast_;
  const off_t leave_kilobytes_;
  const bool full_at_open_;
  Workload workload_;
  const std::atomic<bool> stop_ = false;
  std::unique_ptr<Store> store_;
  bool good_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  return FullDisk(argv, argc > 5 && std::string_view(argv[5]) == "--full-at-open").run() ? 0 : 1;
}
