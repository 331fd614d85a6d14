#include "core/sqlite_gather.h"

#include <sqlite3.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <vector>

#include "core/sqlite.h"

namespace skein {
namespace {

constexpr char kName[] = "skein-gather";
// SQLite's default VFS cuts the length of a write to its low 17 bits.
constexpr std::size_t kMostHeld = 0x1ffff;
constexpr sqlite3_int64 kStep = 64 << 10;
constexpr sqlite3_int64 kMostGrowth = 4 << 20;

sqlite3_vfs* default_vfs() { return sqlite3_vfs_find(nullptr); }

// What SQLite takes for its file. The file of the default VFS lies behind it.
struct LogFile {
  sqlite3_file base;
  std::vector<char>* held;  // not written yet
  sqlite3_int64 held_at;    // where it belongs
  sqlite3_int64 size;       // of the file, as far as it is known

  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  const sqlite3_io_methods* methods() { return real()->pMethods; }
};

LogFile& log_file(sqlite3_file* file) { return *reinterpret_cast<LogFile*>(file); }

// A file that grows has its new size flushed as well, which takes as long again: so it grows in
// steps. What SQLite has not written it does not take for its own.
void grow(LogFile& log, sqlite3_int64 end) {
  static const std::vector<char> zeros(kStep);
  if (end <= log.size) return;
  const sqlite3_int64 until = end + std::min(end, kMostGrowth);
  for (log.size = end; log.size < until;) {
    const auto part = std::min(kStep, until - log.size);
    if (log.methods()->xWrite(log.real(), zeros.data(), static_cast<int>(part), log.size) !=
        SQLITE_OK)
      return;  // there may be room for what has to be written
    log.size += part;
  }
}

int write_held(LogFile& log) {
  if (log.held->empty()) return SQLITE_OK;
  grow(log, log.held_at + static_cast<sqlite3_int64>(log.held->size()));
  const int code = log.methods()->xWrite(log.real(), log.held->data(),
                                         static_cast<int>(log.held->size()), log.held_at);
  // After a failure SQLite undoes the transaction, and writes from here again.
  log.held->clear();
  return code;
}

int close(sqlite3_file* file) {
  LogFile& log = log_file(file);
  delete log.held;
  log.held = nullptr;
  return log.methods()->xClose(log.real());
}

int read(sqlite3_file* file, void* to, int amount, sqlite3_int64 offset) {
  LogFile& log = log_file(file);
  if (const int code = write_held(log); code != SQLITE_OK) return code;
  return log.methods()->xRead(log.real(), to, amount, offset);
}

int write(sqlite3_file* file, const void* from, int amount, sqlite3_int64 offset) {
  LogFile& log = log_file(file);
  const auto* bytes = static_cast<const char*>(from);
  const auto end = log.held_at + static_cast<sqlite3_int64>(log.held->size());
  const bool continues = !log.held->empty() && offset == end;
  if (!continues || log.held->size() + static_cast<std::size_t>(amount) > kMostHeld) {
    if (const int code = write_held(log); code != SQLITE_OK) return code;
    log.held_at = offset;
  }
  try {
    log.held->insert(log.held->end(), bytes, bytes + amount);
    return SQLITE_OK;
  } catch (const std::bad_alloc&) {
    if (const int code = write_held(log); code != SQLITE_OK) return code;
    return log.methods()->xWrite(log.real(), from, amount, offset);
  }
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  LogFile& log = log_file(file);
  if (const int code = write_held(log); code != SQLITE_OK) return code;
  log.size = 0;
  return log.methods()->xTruncate(log.real(), size);
}

int sync(sqlite3_file* file, int flags) {
  LogFile& log = log_file(file);
  if (const int code = write_held(log); code != SQLITE_OK) return code;
  return log.methods()->xSync(log.real(), flags);
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  LogFile& log = log_file(file);
  if (const int code = write_held(log); code != SQLITE_OK) return code;
  return log.methods()->xFileSize(log.real(), size);
}

int lock(sqlite3_file* file, int level) {
  return log_file(file).methods()->xLock(log_file(file).real(), level);
}
int unlock(sqlite3_file* file, int level) {
  return log_file(file).methods()->xUnlock(log_file(file).real(), level);
}
int check_reserved_lock(sqlite3_file* file, int* result) {
  return log_file(file).methods()->xCheckReservedLock(log_file(file).real(), result);
}
int file_control(sqlite3_file* file, int operation, void* argument) {
  return log_file(file).methods()->xFileControl(log_file(file).real(), operation, argument);
}
int sector_size(sqlite3_file* file) {
  return log_file(file).methods()->xSectorSize(log_file(file).real());
}
int device_characteristics(sqlite3_file* file) {
  return log_file(file).methods()->xDeviceCharacteristics(log_file(file).real());
}

const sqlite3_io_methods* log_methods() {
  static const sqlite3_io_methods methods = [] {
    sqlite3_io_methods made{};
    made.iVersion = 1;
    made.xClose = close;
    made.xRead = read;
    made.xWrite = write;
    made.xTruncate = truncate;
    made.xSync = sync;
    made.xFileSize = file_size;
    made.xLock = lock;
    made.xUnlock = unlock;
    made.xCheckReservedLock = check_reserved_lock;
    made.xFileControl = file_control;
    made.xSectorSize = sector_size;
    made.xDeviceCharacteristics = device_characteristics;
    return made;
  }();
  return &methods;
}

// Every file but a write-ahead log is the default VFS's own.
int open(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  sqlite3_vfs* real_vfs = default_vfs();
  if ((flags & SQLITE_OPEN_WAL) == 0)
    return real_vfs->xOpen(real_vfs, name, file, flags, out_flags);
  LogFile& log = log_file(file);
  log.base.pMethods = nullptr;
  log.held_at = 0;
  log.size = 0;
  log.held = new (std::nothrow) std::vector<char>();
  if (log.held == nullptr) return SQLITE_NOMEM;
  const int code = real_vfs->xOpen(real_vfs, name, log.real(), flags, out_flags);
  if (code != SQLITE_OK) {
    if (log.methods() != nullptr) log.methods()->xClose(log.real());
    delete log.held;
    return code;
  }
  if (log.methods()->xFileSize(log.real(), &log.size) != SQLITE_OK) log.size = 0;
  log.base.pMethods = log_methods();
  return SQLITE_OK;
}

}  // namespace

const char* gathering_vfs() {
  static sqlite3_vfs vfs;
  static const bool registered = [] {
    configure_sqlite();
    const sqlite3_vfs* real_vfs = default_vfs();
    if (real_vfs == nullptr) return false;
    vfs = *real_vfs;
    vfs.pNext = nullptr;
    vfs.zName = kName;
    vfs.szOsFile = static_cast<int>(sizeof(LogFile)) + real_vfs->szOsFile;
    vfs.xOpen = open;
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
  }();
  return registered ? kName : nullptr;
}

}  // namespace skein
