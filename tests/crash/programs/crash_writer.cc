// Writes to a store until it is killed, and journals every acknowledgement.
//
//   crash_writer URL JOURNAL_FD [--seed N] [--writers N] [--shared N] [--one-thread] [--ops N]
//                [--only INDEX] [--setup-only] [--no-flush] [--acknowledge-early] [--go-on]
//                [--reopen]
//
// --only carries out what one of the writers does, where the others are other processes. --go-on
// carries on after an error; --reopen then opens the store anew at the end and carries out as many
// operations again. Exits with 3 when the store cannot be opened, with 1 after an error in an
// operation. At the end each writer says on standard error how long its longest operation took.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "crash/harness/writer.h"

namespace {

using namespace skein;
using namespace skein::crash;

struct Options {
  std::string url;
  int journal_fd = 1;
  Workload workload;
  WriterOptions writer;
  int only = -1;
  bool setup_only = false;
  bool no_flush = false;
  bool reopen = false;
};

bool parse(int argc, char** argv, Options& options) {
  if (argc < 3) return false;
  options.url = argv[1];
  options.journal_fd = std::atoi(argv[2]);
  for (int i = 3; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto number = [&] { return i + 1 < argc ? std::strtoull(argv[++i], nullptr, 10) : 0; };
    if (name == "--seed")
      options.workload.seed = number();
    else if (name == "--writers")
      options.workload.writers = static_cast<int>(number());
    else if (name == "--shared")
      options.workload.shared_threads = static_cast<int>(number());
    else if (name == "--one-thread")
      options.workload.one_thread_only = true;
    else if (name == "--ops")
      options.writer.ops = number();
    else if (name == "--only")
      options.only = static_cast<int>(number());
    else if (name == "--setup-only")
      options.setup_only = true;
    else if (name == "--no-flush")
      options.no_flush = true;
    else if (name == "--acknowledge-early")
      options.writer.acknowledge_early = true;
    else if (name == "--go-on")
      options.writer.go_on_after_errors = true;
    else if (name == "--reopen")
      options.reopen = true;
    else
      return false;
  }
  return true;
}

Result<std::unique_ptr<Store>> open(const Options& options) {
  StoreOptions store_options;
  store_options.unsafe_no_flush = options.no_flush;
  auto store = open_store(options.url, std::move(store_options));
  if (!store) std::fprintf(stderr, "open: %s\n", store.error().message.c_str());
  return store;
}

// All writers at once, each on a thread of its own.
bool run_all(Store& store, std::vector<Writer>& writers) {
  std::atomic<bool> stop = false;
  {
    std::vector<std::jthread> threads;
    threads.reserve(writers.size());
    for (Writer& writer : writers) {
      threads.emplace_back([&] {
        if (!writer.run(store, stop)) stop = true;
      });
    }
  }
  bool good = true;
  for (const Writer& writer : writers) {
    if (!writer.first_error()) continue;
    std::fprintf(stderr, "%s\n", writer.first_error()->message.c_str());
    good = false;
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "crash_writer: wrong usage\n");
    return 2;
  }
  JournalWriter journal(options.journal_fd);
  auto store = open(options);
  if (!store) return 3;
  journal.line("opened");
  if (const auto made = make_shared_threads(**store, options.workload); !made) {
    std::fprintf(stderr, "setup: %s\n", made.error().message.c_str());
    return 3;
  }
  if (options.setup_only) return 0;
  journal.line(workload_line(options.workload));

  std::vector<Writer> writers;
  for (int i = 0; i < options.workload.writers; ++i) {
    if (options.only < 0 || options.only == i)
      writers.emplace_back(options.workload, i, journal, options.writer);
  }
  bool good = run_all(**store, writers);
  if (options.reopen) {
    store->reset();
    journal.line("closed");
    store = open(options);
    if (!store) return 3;
    journal.line("opened");
    for (Writer& writer : writers) writer.go_on_for(options.writer.ops);
    good = run_all(**store, writers) && good;
  }
  for (const Writer& writer : writers)
    std::fprintf(stderr, "longest wait %lld us\n",
                 static_cast<long long>(writer.longest_wait().count()));
  return good ? 0 : 1;
}
