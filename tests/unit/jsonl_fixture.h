// A jsonl: store whose files a test can look into and spoil.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "skein/store.h"
#include "support/builders.h"
#include "support/expect.h"
#include "support/manual_clock.h"
#include "support/temp_dir.h"

namespace skein::test {

class JsonlFolder : public testing::Test {
 protected:
  static constexpr std::string_view kId = "0123456789ab";

  std::unique_ptr<Store> open() {
    StoreOptions options;
    options.clock = &clock_;
    options.ids = &ids_;
    options.notice = [this](const Finding& finding) { notices_.push_back(finding.what); };
    return must(open_store("jsonl:" + root(), std::move(options)));
  }

  std::string root() const { return (folder_.path() / "store").string(); }
  std::filesystem::path path(std::string_view relative) const {
    return std::filesystem::path(root()) / relative;
  }
  std::filesystem::path thread_path(ThreadId id, std::string_view agent = "agent") const {
    return path(agent) / "threads" / (id.str() + ".jsonl");
  }
  static ThreadId id() { return must(ThreadId::parse(kId)); }

  static std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
  }
  static void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  static void add_bytes(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
  }
  // The file without its line 1.
  static std::string events_of(const std::filesystem::path& path) {
    const std::string bytes = bytes_of(path);
    return bytes.substr(bytes.find('\n') + 1);
  }
  static std::string line_1_of(const std::filesystem::path& path) {
    const std::string bytes = bytes_of(path);
    return bytes.substr(0, bytes.find('\n') + 1);
  }
  static std::size_t files_in(const std::filesystem::path& folder) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
  }

  static std::vector<Finding> check(Store& store, bool repair = false) {
    std::vector<Finding> findings;
    CheckOptions options;
    options.repair = repair;
    must(store.check(options, [&](const Finding& finding) { findings.push_back(finding); }));
    return findings;
  }
  static std::vector<std::string> broken(const std::vector<Finding>& findings) {
    std::vector<std::string> what;
    for (const Finding& finding : findings) {
      if (finding.health == Health::kBroken) what.push_back(finding.what);
    }
    return what;
  }

  ManualClock clock_;
  SeededIds ids_;
  TempDir folder_;
  std::vector<std::string> notices_;
};

inline std::string unreadable_reason(const Event& event) {
  const auto* unreadable = std::get_if<Unreadable>(&event.payload);
  return unreadable == nullptr ? "" : unreadable->reason;
}

}  // namespace skein::test
