// How much one server of the Model Context Protocol takes.
#pragma once

#include <chrono>
#include <cstddef>

namespace skein::mcp::limits {

inline constexpr std::size_t kMaxOpenRequests = 1024;  // of one client, that wait or run
inline constexpr std::size_t kMaxWaitingBytes = std::size_t{64} << 20;  // of these, as text
inline constexpr std::size_t kWorkers = 8;                              // requests that run at once
inline constexpr std::size_t kMaxOutboxBytes = std::size_t{64} << 20;   // that nobody has read yet
inline constexpr std::size_t kPageSize = 50;                            // entries of a list
inline constexpr std::size_t kMaxCompletions = 100;                     // by the protocol
inline constexpr std::size_t kListedThreads = 20;                       // of resources/list
inline constexpr std::size_t kListedItems = 100;
inline constexpr std::size_t kListedCheckpoints = 20;
inline constexpr std::size_t kMaxSubscriptions = 256;    // of one client
inline constexpr std::size_t kMaxSubscribedUris = 1024;  // of one subscription
inline constexpr std::size_t kMaxUriBytes = 512;
inline constexpr std::size_t kMaxShownBytes = std::size_t{60} << 10;  // of a conversation at once
inline constexpr std::size_t kMaxShownMessages = 200;
inline constexpr std::size_t kMaxStateBytes = std::size_t{64} << 10;  // of a sealed state

// Of Streamable HTTP:
inline constexpr std::size_t kMaxSessions = 1000;
inline constexpr std::size_t kMaxListeners = 4096;                  // of all clients
inline constexpr std::size_t kMaxKeptStreams = 64;                  // of one session
inline constexpr std::size_t kMaxKeptBytes = std::size_t{1} << 20;  // of one stream, to be resumed
inline constexpr std::chrono::minutes kSessionIdle{60};
inline constexpr std::chrono::minutes kAskTime{10};    // for a client to answer
inline constexpr std::chrono::minutes kStateTime{30};  // for a sealed state to come back

}  // namespace skein::mcp::limits
