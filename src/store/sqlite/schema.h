// The tables of a `sqlite:` store, and how a connection to them is set up.
#pragma once

#include <span>
#include <string>

#include "core/sqlite.h"

namespace skein::sqlite {

// "Skei", so that file(1) and we know our files.
inline constexpr std::int32_t kApplicationId = 0x536b6569;

// Ordered; a released one is never edited.
std::span<const Migration> migrations();

enum class Flush { kFull, kNever };

// A connection that is ready for use. `cache_kb` is the most that it keeps of the file in memory.
// It leaves the write-ahead log alone when it closes; see Database::keep_log_on_close.
Result<Database> connect(const std::string& path, int cache_kb, Flush flush,
                         const char* vfs = nullptr);

// Sets the file up for write-ahead logging and brings its schema up to date. The caller keeps
// others out.
Result<void> prepare_file(Database& database);

}  // namespace skein::sqlite
