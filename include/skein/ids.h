// Names of things: threads, agents, and where the randomness in ids comes from.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "skein/error.h"

namespace skein {

// Position of an event in its thread: 1, 2, 3 … without gaps. 0 is before the first.
using Seq = std::uint64_t;

// Grows with every change of the one thing that it belongs to, and is never used twice for it.
using Version = std::uint64_t;

// 12 lowercase hex digits, random, unique over all agents. Kept as its 48 bits.
class ThreadId {
 public:
  constexpr ThreadId() = default;
  // Takes the low 48 bits.
  static constexpr ThreadId from_bits(std::uint64_t bits) { return ThreadId(bits & kMask); }
  // Exactly /^[a-f0-9]{12}$/; anything else is kInvalid, naming the rule and the value.
  static Result<ThreadId> parse(std::string_view text);

  std::string str() const;
  // The form for clients that insist on UUIDs: 00000000-0000-4000-8000-<id>.
  std::string uuid() const;
  constexpr std::uint64_t bits() const { return bits_; }

  friend constexpr auto operator<=>(ThreadId, ThreadId) = default;

 private:
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << 48) - 1;
  constexpr explicit ThreadId(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t bits_ = 0;
};

// What a caller may name a thread by: its id, the UUID form of its id, or its alias (a UUID that a
// client chose itself, kept in lower case).
class ThreadRef {
 public:
  ThreadRef(ThreadId id) : id_(id) {}  // NOLINT(google-explicit-constructor): an id is a reference
  static Result<ThreadRef> parse(std::string_view text);

  const std::optional<ThreadId>& id() const { return id_; }
  const std::string& alias() const { return alias_; }  // empty when id() is set
  std::string str() const { return id_ ? id_->str() : alias_; }

 private:
  explicit ThreadRef(std::string alias) : alias_(std::move(alias)) {}
  std::optional<ThreadId> id_;
  std::string alias_;
};

// [A-Za-z0-9_-][A-Za-z0-9._-]{0,63}, and not "usage.jsonl", whose place in a folder is taken.
Result<void> check_agent_id(std::string_view text);

// A UUID that is not the UUID form of a thread id; returns it in lower case.
Result<std::string> check_alias(std::string_view text);

// Where ids and lease tokens come from. Implementations are thread-safe.
class IdSource {
 public:
  virtual ~IdSource() = default;
  virtual std::uint64_t next() = 0;
};

// The kernel's randomness. Lives as long as the program.
IdSource& random_ids();

}  // namespace skein

template <>
struct std::hash<skein::ThreadId> {
  std::size_t operator()(skein::ThreadId id) const noexcept {
    return static_cast<std::size_t>(id.bits() * 0x9E3779B97F4A7C15ULL >> 8);
  }
};
