#include "core/quote.h"
#include "skein/store.h"
#include "store/jsonl/jsonl_store.h"
#include "store/memory/memory_store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"

namespace skein {
namespace {

// What kind of store a URL asks for: the rest of it may hold a password.
std::string quoted_kind(std::string_view url) {
  const std::size_t colon = url.find(':');
  if (colon == std::string_view::npos || colon + 1 == url.size()) return quote(url);
  return quote(std::string(url.substr(0, colon + 1)) + "…");
}

}  // namespace

Result<std::unique_ptr<Store>> open_store(std::string_view url, StoreOptions options) {
  if (options.clock == nullptr) options.clock = &system_clock();
  if (options.ids == nullptr) options.ids = &random_ids();
  if (url == "memory:") return make_memory_store(std::move(options));
  constexpr std::string_view kJsonl = "jsonl:";
  if (url.starts_with(kJsonl) && url.size() > kJsonl.size())
    return open_jsonl_store(std::string(url.substr(kJsonl.size())), std::move(options));
  constexpr std::string_view kSqlite = "sqlite:";
  if (url.starts_with(kSqlite) && url.size() > kSqlite.size())
    return open_sqlite_store(std::string(url.substr(kSqlite.size())), std::move(options));
  if (url.starts_with("postgres://") || url.starts_with("postgresql://"))
    return open_postgres_store(std::string(url), std::move(options));
  return fail(
      ErrorCode::kInvalid,
      "store must be memory:, jsonl:DIR, sqlite:FILE or postgres://…, got " + quoted_kind(url));
}

}  // namespace skein
