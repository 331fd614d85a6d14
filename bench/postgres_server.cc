#include "bench/postgres_server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "bench/workload.h"
#include "core/subprocess.h"
#include "core/try.h"

namespace skein::bench {
namespace {

namespace fs = std::filesystem;

// A URL without what is ours alone.
std::string for_libpq(const std::string& url) {
  const std::size_t question = url.find('?');
  if (question == std::string::npos) return url;
  std::string kept = url.substr(0, question);
  char separator = '?';
  for (std::size_t at = question + 1; at < url.size();) {
    const std::size_t end = std::min(url.find('&', at), url.size());
    const std::string one = url.substr(at, end - at);
    at = end + 1;
    if (one.starts_with("skein_")) continue;
    kept += separator + one;
    separator = '&';
  }
  return kept;
}

// Debian keeps programs of the server out of PATH.
std::string find_program(const std::string& name) {
  std::error_code error;
  std::string found = name;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", error)) {
    const fs::path path = version.path() / "bin" / name;
    if (fs::exists(path, error)) found = path.string();
  }
  return found;
}

Result<std::string> run(std::vector<std::string> argv) {
  ProgramLimits limits;
  limits.time = std::chrono::minutes(30);
  const std::string name = argv.front();
  SKEIN_ASSIGN(const Finished done, run_program({.argv = std::move(argv)}, "", limits));
  if (done.exit.ok()) return done.out;
  return fail(ErrorCode::kIo, name + ": " + done.exit.str() + ": " + done.err);
}

}  // namespace

PostgresScratch::PostgresScratch(std::string url, std::string schema, std::string store_url)
    : url_(std::move(url)), schema_(std::move(schema)), store_url_(std::move(store_url)) {}

PostgresScratch::PostgresScratch(PostgresScratch&& other) noexcept
    : url_(std::move(other.url_)),
      schema_(std::exchange(other.schema_, {})),
      store_url_(std::move(other.store_url_)) {}

PostgresScratch::~PostgresScratch() {
  if (!schema_.empty()) (void)sql("DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
}

Result<PostgresScratch> PostgresScratch::make(const std::string& url) {
  const std::string plain = for_libpq(url);
  const std::string schema = fmt::format("skein_bench_{}", ::getpid());
  const char separator = plain.find('?') == std::string::npos ? '?' : '&';
  PostgresScratch scratch(
      plain, schema,
      fmt::format("{}{}skein_schema={}&skein_timeout_ms=600000", plain, separator, schema));
  SKEIN_TRY(scratch.sql(fmt::format(
      "CREATE SCHEMA {0}; CREATE TABLE {0}.rows(id bigserial PRIMARY KEY, body text NOT NULL)",
      schema)));
  return scratch;
}

Result<void> PostgresScratch::sql(const std::string& text) const {
  SKEIN_TRY(run({"psql", url_, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", text}));
  return {};
}

Result<void> PostgresScratch::analyze() const {
  for (const char* table : {"threads", "manifests", "events", "changes", "thread_meta"})
    SKEIN_TRY(sql(fmt::format("VACUUM ANALYZE {}.{}", schema_, table)));
  return {};
}

Result<double> PostgresScratch::pgbench(int connections, int seconds) const {
  const fs::path script = fs::temp_directory_path() / fmt::format("{}.sql", schema_);
  std::ofstream(script) << fmt::format("INSERT INTO {}.rows(body) VALUES('{}');\n", schema_,
                                       sample_line(1));
  const auto done =
      run({find_program("pgbench"), "-n", "-M", "prepared", "-f", script.string(), "-c",
           std::to_string(connections), "-j", std::to_string(std::min(connections, 2)), "-T",
           std::to_string(seconds), url_});
  std::error_code ignored;
  fs::remove(script, ignored);
  SKEIN_TRY(done);
  const std::string key = "tps = ";
  const std::size_t at = done->find(key);
  if (at == std::string::npos) return fail(ErrorCode::kIo, "pgbench said no rate: " + *done);
  return std::stod(done->substr(at + key.size()));
}

}  // namespace skein::bench
