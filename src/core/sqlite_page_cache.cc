#include "core/sqlite_page_cache.h"

#include <sqlite3.h>

#include <new>

namespace skein {
namespace {

sqlite3_pcache_methods2 real;  // SQLite's own, set once

// What SQLite takes for its cache.
struct Cache {
  sqlite3_pcache* inner;
  HighestPage pages{};
};

Cache& cache_of(sqlite3_pcache* cache) { return *reinterpret_cast<Cache*>(cache); }

sqlite3_pcache* create(int page_bytes, int extra_bytes, int purgeable) {
  sqlite3_pcache* inner = real.xCreate(page_bytes, extra_bytes, purgeable);
  if (inner == nullptr) return nullptr;
  auto* cache = new (std::nothrow) Cache{.inner = inner};
  if (cache == nullptr) real.xDestroy(inner);
  return reinterpret_cast<sqlite3_pcache*>(cache);
}

void set_size(sqlite3_pcache* cache, int pages) { real.xCachesize(cache_of(cache).inner, pages); }

int count(sqlite3_pcache* cache) { return real.xPagecount(cache_of(cache).inner); }

sqlite3_pcache_page* fetch(sqlite3_pcache* cache, unsigned key, int create_flag) {
  sqlite3_pcache_page* page = real.xFetch(cache_of(cache).inner, key, create_flag);
  if (page != nullptr) cache_of(cache).pages.take(key);
  return page;
}

void unpin(sqlite3_pcache* cache, sqlite3_pcache_page* page, int discard) {
  real.xUnpin(cache_of(cache).inner, page, discard);
}

void rekey(sqlite3_pcache* cache, sqlite3_pcache_page* page, unsigned from, unsigned to) {
  real.xRekey(cache_of(cache).inner, page, from, to);
  cache_of(cache).pages.move(from, to);
}

void truncate(sqlite3_pcache* cache, unsigned limit) {
  if (!cache_of(cache).pages.reaches(limit)) return;
  real.xTruncate(cache_of(cache).inner, limit);
  cache_of(cache).pages.cut(limit);
}

void destroy(sqlite3_pcache* cache) {
  real.xDestroy(cache_of(cache).inner);
  delete &cache_of(cache);
}

void shrink(sqlite3_pcache* cache) { real.xShrink(cache_of(cache).inner); }

}  // namespace

void spare_page_cache() {
  if (sqlite3_config(SQLITE_CONFIG_GETPCACHE2, &real) != SQLITE_OK) return;
  sqlite3_pcache_methods2 sparing = real;
  sparing.xCreate = create;
  sparing.xCachesize = set_size;
  sparing.xPagecount = count;
  sparing.xFetch = fetch;
  sparing.xUnpin = unpin;
  sparing.xRekey = rekey;
  sparing.xTruncate = truncate;
  sparing.xDestroy = destroy;
  sparing.xShrink = shrink;
  sqlite3_config(SQLITE_CONFIG_PCACHE2, &sparing);
}

}  // namespace skein
