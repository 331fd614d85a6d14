#include "crash/harness/figures.h"

#include <cstdio>
#include <cstdlib>

namespace skein::crash {

bool full_figures() { return std::getenv("SKEIN_PROVE") != nullptr; }

void figure(const std::string& text) {
  std::printf("figure: %s\n", text.c_str());
  std::fflush(stdout);
}

std::string store_url(const std::string& backend, const std::string& folder) {
  return backend == "jsonl" ? "jsonl:" + folder + "/store" : "sqlite:" + folder + "/store.db";
}

}  // namespace skein::crash
