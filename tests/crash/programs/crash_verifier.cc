// Opens a store after a fault and compares it with the journals of those who wrote to it.
//
//   crash_verifier URL JOURNAL… [--read-only]
//
// Prints "reopened in N us", then each problem; exits with 1 if there are any.

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "crash/harness/verify.h"

int main(int argc, char** argv) {
  using namespace skein;
  using namespace skein::crash;
  if (argc < 2) return 2;
  const std::string url = argv[1];
  VerifyOptions options;
  options.exact_feed = !url.starts_with("jsonl:");
  std::vector<std::string> journals;
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--read-only")
      options.write_on = false;
    else
      journals.emplace_back(argv[i]);
  }

  const auto begin = std::chrono::steady_clock::now();
  auto store = open_store(url);
  if (!store) {
    std::printf("the store cannot be opened: %s\n", store.error().message.c_str());
    return 1;
  }
  const auto opened = std::chrono::steady_clock::now() - begin;
  std::printf("reopened in %lld us\n",
              static_cast<long long>(
                  std::chrono::duration_cast<std::chrono::microseconds>(opened).count()));
  bool good = true;
  for (const std::string& path : journals) {
    const auto journal = Journal::load(path);
    // Whoever was killed before the first acknowledgement promised nothing.
    if (!journal && journal.error().code == ErrorCode::kNotFound) continue;
    if (!journal) {
      std::printf("%s: %s\n", path.c_str(), journal.error().message.c_str());
      return 2;
    }
    for (const std::string& problem : verify(**store, *journal, options)) {
      std::printf("%s\n", problem.c_str());
      good = false;
    }
  }
  return good ? 0 : 1;
}
