// Listing by hostile filters and cursors: what is found matches, what cannot be applied is refused,
// and nothing widens to all threads.

#include <boost/json.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/json.h"
#include "fuzz/support/check.h"
#include "skein/store.h"

namespace {

using namespace skein;

std::unique_ptr<Store> make_store() {
  auto store = open_store("memory:").value();
  for (const char* metadata :
       {R"({"project":"skein","n":1})", R"({"project":"1","n":1.0})", R"({"n":"1","a'b":true})",
        R"({"project":null,"":0})", R"({"%":"%","_":"_","n":-0.5e1})", R"({})"}) {
    NewThread thread;
    thread.agent_id = "agent";
    thread.fields.metadata(Json::trusted(metadata));
    FUZZ_CHECK(store->create(thread));
  }
  return store;
}

// The input is lines: cursor, limit, then names and values of filters in turn.
ListQuery read_query(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  lines.resize(std::max<std::size_t>(2, lines.size()));
  ListQuery query;
  query.after = lines[0];
  query.order = static_cast<ListOrder>(lines[0].size() % 3);
  query.limit = 1 + static_cast<unsigned char>(lines[1].empty() ? 'z' : lines[1][0]);
  query.with_total = true;
  for (std::size_t i = 2; i + 1 < lines.size(); i += 2)
    query.metadata.push_back({lines[i], Json::trusted(lines[i + 1])});
  return query;
}

bool holds(const Manifest& manifest, const MetadataEquals& filter) {
  const auto metadata = boost::json::parse(manifest.metadata.text()).as_object();
  const auto* found = metadata.if_contains(filter.key);
  if (found == nullptr) return false;
  const auto wanted = boost::json::parse(filter.value.text());
  if (found->is_number() && wanted.is_number())
    return found->to_number<double>() == wanted.to_number<double>();
  return *found == wanted;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<Store> store = make_store();
  ListQuery query = read_query(fuzz::as_text(data, size));
  const auto page = store->list(query);
  if (!page) {
    FUZZ_CHECK(page.error().code == ErrorCode::kInvalid && valid_utf8(page.error().message));
    return 0;
  }
  FUZZ_CHECK(page->threads.size() <= query.limit);
  for (const Manifest& manifest : page->threads) {
    for (const MetadataEquals& filter : query.metadata) FUZZ_CHECK(holds(manifest, filter));
  }
  // From the first page on, one at a time, every match is shown once.
  query.after.clear();
  query.limit = 1;
  std::set<ThreadId> seen;
  std::uint64_t total = 0;
  do {
    const auto next = store->list(query);
    FUZZ_CHECK(next.has_value());
    total = *next->total;
    for (const Manifest& manifest : next->threads) FUZZ_CHECK(seen.insert(manifest.id).second);
    query.after = next->next;
  } while (!query.after.empty());
  FUZZ_CHECK(seen.size() == total);
  return 0;
}
