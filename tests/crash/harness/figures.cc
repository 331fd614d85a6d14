#include "crash/harness/figures.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include "support/postgres_server.h"

namespace skein::crash {

bool full_figures() { return std::getenv("SKEIN_PROVE") != nullptr; }

void figure(const std::string& text) {
  std::printf("figure: %s\n", text.c_str());
  std::fflush(stdout);
}

std::string store_url(const std::string& backend, const std::string& folder) {
  if (backend == "postgres") {
    static std::map<std::string, std::unique_ptr<test::PostgresTables>> tables;
    auto& own = tables[folder];
    if (!own) own = std::make_unique<test::PostgresTables>();
    return own->url();
  }
  return backend == "jsonl" ? "jsonl:" + folder + "/store" : "sqlite:" + folder + "/store.db";
}

}  // namespace skein::crash
