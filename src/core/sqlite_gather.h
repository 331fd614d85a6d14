// Writes of a commit in one system call.
#pragma once

namespace skein {

// A VFS like SQLite's default, except that what is written to a write-ahead log piece by piece (two
// calls for each page) is gathered, and goes out in one call when the log is flushed, read or cut.
// Nothing is acknowledged before the flush, so nothing is told sooner than it is on disk.
//
// For connections that write with synchronous = FULL: without the flush of each commit, other
// connections would look for pages that are still held back. Null if it cannot be had; SQLite's
// default will do then. Lives as long as the program.
const char* gathering_vfs();

}  // namespace skein
