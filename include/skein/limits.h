// Everything has a limit, and what exceeds it gets an error that names the limit.
#pragma once

#include <cstddef>

namespace skein::limits {

inline constexpr std::size_t kMaxTextBytes = std::size_t{4} << 20;       // text of one message
inline constexpr std::size_t kMaxEventBytes = std::size_t{8} << 20;      // one event, as JSON
inline constexpr std::size_t kMaxMetadataBytes = std::size_t{64} << 10;  // of a thread, of a run
// Metadata of an event: also what a client's message has beside its text, such as pictures.
inline constexpr std::size_t kMaxEventMetadataBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMaxManifestBytes = std::size_t{256} << 10;  // one manifest, as JSON
inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxAgentIdBytes = 64;
inline constexpr std::size_t kMaxKeyBytes = 256;  // idempotency key, lease holder
inline constexpr std::size_t kMaxToolNameBytes = 256;
inline constexpr std::size_t kMaxPageSize = 1000;   // threads of one list, records of one scan
inline constexpr std::size_t kMaxChanges = 10'000;  // entries of one read of the change feed
inline constexpr std::size_t kMaxBatch = 10'000;    // appends or writes of one call
inline constexpr std::size_t kMaxCreateEvents = 100'000;  // events that a thread is created with
inline constexpr std::size_t kMaxFilterTerms = 16;
inline constexpr std::size_t kMaxPins = 1000;
inline constexpr std::size_t kMaxSubscribers = 4096;  // of one manager
inline constexpr std::size_t kMaxCollectionBytes = 64;
inline constexpr std::size_t kMaxRecordKeyBytes = 512;
inline constexpr std::size_t kMaxRecordBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxItemTextChars = std::size_t{8} << 10;   // of an item, a note
inline constexpr std::size_t kMaxItemTextBytes = 4 * kMaxItemTextChars;  // the same in UTF-8
inline constexpr std::size_t kMaxItemListBytes = std::size_t{15} << 20;  // all items, as JSON
inline constexpr std::size_t kItemListRoomBytes = std::size_t{1} << 20;  // of it, not for new items
inline constexpr std::size_t kMaxItemIdBytes = 66;
inline constexpr std::size_t kMaxProjectBytes = 100;
inline constexpr std::size_t kMaxWorkSessionIdBytes = 64;
inline constexpr std::size_t kMaxLinkBytes = 128;  // what an item links to
inline constexpr std::size_t kMaxSessionNotesBytes =
    std::size_t{256} << 10;  // what a session ends with, its items aside
inline constexpr std::size_t kMaxContextTokens = 10'000'000;  // budget of one context
inline constexpr std::size_t kMaxSummaryTokens = 100'000;     // of one summary
inline constexpr long long kMaxLeaseMs = 24LL * 3600 * 1000;
inline constexpr long long kMaxWaitMs = 60LL * 1000;  // longest wait of one read of the change feed

}  // namespace skein::limits
