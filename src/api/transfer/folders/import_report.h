// What an import found, and what became of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace skein {

enum class LeftOut {
  kExpected,  // has no counterpart, or is made anew here
  kFailed,    // cannot be read, or is not valid
  kConflict,  // is there with another content
};

// found = taken + there + left out.
struct ImportRow {
  std::string kind;  // "threads"
  std::uint64_t found = 0;
  std::uint64_t taken = 0;
  std::uint64_t there = 0;
  std::map<std::string, std::uint64_t> left_out{};  // by reason

  std::uint64_t left_out_count() const;
};

// A part of an agent's definition that Skein has no counterpart for.
struct UnmappedField {
  std::string agent;
  std::string field;   // "capabilities.audio"
  std::string advice;  // what to do about it
};

// Not thread-safe.
class ImportReport {
 public:
  void taken(std::string_view kind, std::uint64_t count = 1);
  void there(std::string_view kind, std::uint64_t count = 1);
  // `reason` follows a number: "3 no JSON".
  void left_out(std::string_view kind, std::string_view reason, LeftOut why,
                std::uint64_t count = 1);
  // What was counted before anybody looked at it; where nobody says so, the sum of the others.
  void found(std::string_view kind, std::uint64_t count);

  void unmapped(UnmappedField field) { unmapped_.push_back(std::move(field)); }
  // The folder and what it is: "old: Nova workspace".
  void source(std::string text) { sources_.push_back(std::move(text)); }
  void redacted(std::uint64_t count) { redacted_ += count; }

  // In the order in which the kinds were first named; those of which nothing was found are left
  // out.
  std::vector<ImportRow> rows() const;
  const std::vector<UnmappedField>& unmapped() const { return unmapped_; }
  const std::vector<std::string>& sources() const { return sources_; }
  std::uint64_t redacted() const { return redacted_; }
  std::uint64_t taken_of(std::string_view kind) const;
  bool took_anything() const;
  bool failed() const { return failed_ > 0; }
  bool conflicts() const { return conflicts_ > 0; }

 private:
  ImportRow& row(std::string_view kind);

  std::vector<ImportRow> rows_;
  std::map<std::string, std::uint64_t, std::less<>> counted_;  // found(), by kind
  std::vector<UnmappedField> unmapped_;
  std::vector<std::string> sources_;
  std::uint64_t redacted_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t conflicts_ = 0;
};

}  // namespace skein
