// Threads by what they have in them.
#include <algorithm>
#include <set>
#include <utility>

#include "api/run_states.h"
#include "api/threads.h"
#include "core/json_array.h"
#include "core/json_contains.h"
#include "core/json_fields.h"
#include "core/try.h"
#include "http/langgraph/extract.h"
#include "http/langgraph/listing.h"
#include "http/langgraph/shared.h"
#include "skein/limits.h"

namespace skein::http {
namespace {

constexpr std::size_t kMaxLookedAt = 100'000;  // by a search that the store cannot do alone

struct Search {
  ListQuery query;
  bool none = false;  // it cannot match anything
  std::optional<std::string> metadata;
  std::optional<std::string> values;
  std::optional<std::string> status;
  std::vector<std::string> ids;
  Select select;
  std::vector<ExtractPath> extract;
  std::string sort_by = "created_at";
  bool descending = true;
  std::uint64_t limit = 10;
  std::uint64_t offset = 0;

  bool store_can() const {
    return !values && !status && !metadata && ids.empty() && store_orders();
  }
  bool store_orders() const {
    return sort_by == "created_at" || (sort_by == "updated_at" && descending);
  }
};

// What of a filter the store can look for; the rest stays with the search.
void read_metadata(LangGraph& graph, const Caller& caller, RawJson filter, Search& search) {
  const JsonFields fields(filter);
  bool rest = false;
  for (const auto& field : fields.others()) {
    if (field.name == "graph_id" || field.name == "assistant_id") {
      const auto named = json_to_string(field.value);
      const auto agent = find_agent(graph, caller, named.value_or(""));
      search.none =
          search.none || !agent || (search.query.agent_id && search.query.agent_id != agent);
      search.query.agent_id = agent;
    } else if (canonical_scalar(field.value) && field.value != "null" &&
               search.query.metadata.size() < limits::kMaxFilterTerms) {
      search.query.metadata.push_back({field.name, Json::trusted(std::string(field.value))});
    } else {
      rest = true;
    }
  }
  if (!rest) return;
  JsonFields own(filter);
  own.take_string("graph_id");
  own.take_string("assistant_id");
  search.metadata = own.rest().text();
}

Result<Search> read_search(LangGraph& graph, const Request& request) {
  Search search;
  JsonFields body(request.body);
  if (!request.caller.all_agents && request.caller.agents.size() == 1) {
    search.query.agent_id = request.caller.agents.front();
  }
  if (const auto filter = body.take_object("metadata")) {
    read_metadata(graph, request.caller, *filter, search);
  }
  if (const auto values = body.take_object("values"); values && *values != "{}") {
    search.values = std::string(*values);
  }
  search.status = body.take_string("status");
  search.ids = body.take_strings("ids").value_or(std::vector<std::string>());
  search.select = body.take_strings("select").value_or(Select());
  SKEIN_ASSIGN(search.extract, read_extract(body.take_object("extract").value_or("{}")));
  search.sort_by = body.take_string("sort_by").value_or("created_at");
  search.descending = body.take_string("sort_order").value_or("desc") != "asc";
  search.limit = static_cast<std::uint64_t>(body.take_int("limit").value_or(10));
  search.offset = static_cast<std::uint64_t>(body.take_int("offset").value_or(0));
  search.query.order =
      search.descending ? ListOrder::kCreatedNewestFirst : ListOrder::kCreatedOldestFirst;
  if (search.sort_by == "updated_at") search.query.order = ListOrder::kUpdatedNewestFirst;
  return search;
}

// Goes through the threads that a search may mean, and keeps those that it does.
class Sieve {
 public:
  Sieve(LangGraph& graph, const Request& request, const Search& search,
        const std::set<ThreadId>& busy)
      : graph_(graph), request_(request), search_(search), busy_(busy) {}

  Result<bool> fits(const Manifest& manifest) {
    if (!request_.caller.sees(manifest.agent_id)) return false;
    if (search_.query.agent_id && manifest.agent_id != *search_.query.agent_id) return false;
    if (search_.status && *search_.status != thread_status(manifest, busy_.contains(manifest.id))) {
      return false;
    }
    const std::string metadata = manifest.metadata.empty() ? "{}" : manifest.metadata.text();
    if (search_.metadata && !json_contains(metadata, *search_.metadata)) return false;
    // Those of a list were compared by the store; those of ids were not.
    for (const MetadataEquals& term : search_.query.metadata) {
      if (search_.ids.empty()) break;
      const auto wanted = canonical_scalar(term.value.text());
      if (canonical_scalar(member(metadata, term.key)) != wanted) return false;
    }
    if (!search_.values) return true;
    SKEIN_ASSIGN(const auto state, graph_.states.current(manifest));
    return json_contains(*state.values, *search_.values);
  }

  Result<std::vector<Manifest>> all() {
    std::vector<Manifest> found;
    if (!search_.ids.empty()) {
      for (const std::string& id : search_.ids) {
        SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(id));
        SKEIN_ASSIGN(auto manifest, graph_.service.store().get(ref));
        if (!manifest) continue;
        SKEIN_ASSIGN(const bool fit, fits(*manifest));
        if (fit) found.push_back(std::move(*manifest));
      }
      return found;
    }
    std::size_t seen = 0;
    Result<void> wrong;
    const auto sift = [&](const Manifest& manifest) {
      ++seen;
      const auto fit = fits(manifest);
      if (!fit) wrong = tl::unexpected(fit.error());
      if (fit && *fit) found.push_back(manifest);
      return fit.has_value() && seen <= kMaxLookedAt;
    };
    SKEIN_TRY(list_threads(graph_.service.store(), search_.query, kMaxLookedAt + 1, sift));
    SKEIN_TRY(wrong);
    if (seen <= kMaxLookedAt) return found;
    return fail(ErrorCode::kInvalid, "this search would look at more than " +
                                         std::to_string(kMaxLookedAt) +
                                         " threads: filter by metadata");
  }

 private:
  LangGraph& graph_;
  const Request& request_;
  const Search& search_;
  const std::set<ThreadId>& busy_;
};

void sort(std::vector<Manifest>& found, const Search& search, const std::set<ThreadId>& busy) {
  const auto less = [&](const Manifest& a, const Manifest& b) {
    if (search.sort_by == "updated_at") return a.updated_at < b.updated_at;
    if (search.sort_by == "thread_id") return client_id(a) < client_id(b);
    if (search.sort_by == "status") {
      return thread_status(a, busy.contains(a.id)) < thread_status(b, busy.contains(b.id));
    }
    return a.created_at < b.created_at;
  };
  std::sort(found.begin(), found.end(), [&](const Manifest& a, const Manifest& b) {
    const bool before = search.descending ? less(b, a) : less(a, b);
    const bool after = search.descending ? less(a, b) : less(b, a);
    return before || (!after && a.id < b.id);
  });
}

struct Page {
  std::vector<Manifest> threads;
  std::uint64_t total = 0;
};

Result<Page> page_by_store(Store& store, Search search) {
  Page page;
  search.query.with_total = true;
  search.query.limit = static_cast<std::size_t>(
      std::min<std::uint64_t>(search.offset + search.limit, limits::kMaxPageSize));
  std::uint64_t passed = 0;
  while (true) {
    SKEIN_ASSIGN(ThreadPage found, store.list(search.query));
    if (found.total) page.total = *found.total;
    for (Manifest& manifest : found.threads) {
      if (passed++ < search.offset) continue;
      if (page.threads.size() < search.limit) page.threads.push_back(std::move(manifest));
    }
    if (found.next.empty() || page.threads.size() >= search.limit) return page;
    search.query.after = std::move(found.next);
    search.query.with_total = false;
  }
}

Result<Page> find_page(LangGraph& graph, const Request& request, const Search& search,
                       const std::set<ThreadId>& busy) {
  if (search.none) return Page{};
  const bool one_list = request.caller.all_agents || search.query.agent_id;
  const bool seen = !search.query.agent_id || request.caller.sees(*search.query.agent_id);
  if (search.store_can() && one_list && seen) return page_by_store(graph.service.store(), search);
  SKEIN_ASSIGN(auto found, Sieve(graph, request, search, busy).all());
  if (!search.store_orders() || !search.ids.empty()) sort(found, search, busy);
  Page page;
  page.total = found.size();
  for (std::size_t i = search.offset; i < found.size() && page.threads.size() < search.limit; ++i) {
    page.threads.push_back(std::move(found[i]));
  }
  return page;
}

Result<std::string> found_json(LangGraph& graph, const Manifest& manifest, bool busy,
                               const Search& search) {
  if (search.extract.empty()) return thread_json(graph, manifest, busy, search.select);
  SKEIN_ASSIGN(const std::string whole, thread_json(graph, manifest, busy));
  std::string shown = selected(whole, search.select);
  shown.pop_back();
  shown += shown.size() > 1 ? ",\"extracted\":" : "\"extracted\":";
  return shown + extracted_json(whole, search.extract) + "}";
}

Reply search_threads(LangGraph& graph, const Request& request) {
  SKEIN_ASSIGN(const Search search, read_search(graph, request));
  SKEIN_ASSIGN(const auto busy, busy_threads(graph.service.store(), graph.service.clock()));
  SKEIN_ASSIGN(const Page page, find_page(graph, request, search, busy));
  std::vector<std::string> threads;
  for (const Manifest& manifest : page.threads) {
    SKEIN_ASSIGN(auto json, found_json(graph, manifest, busy.contains(manifest.id), search));
    threads.push_back(std::move(json));
  }
  Response response = json_response(json_array_of(threads));
  const std::uint64_t next = search.offset + page.threads.size();
  if (!page.threads.empty() && next < page.total) {
    response.header("X-Pagination-Next", std::to_string(next));
  }
  response.header("X-Pagination-Total", std::to_string(page.total));
  return response;
}

Reply count_threads(LangGraph& graph, const Request& request) {
  SKEIN_ASSIGN(Search search, read_search(graph, request));
  search.limit = 1;
  SKEIN_ASSIGN(const auto busy, busy_threads(graph.service.store(), graph.service.clock()));
  SKEIN_ASSIGN(const Page page, find_page(graph, request, search, busy));
  return json_response(std::to_string(page.total));
}

constexpr const char* kSearchBody =
    R"({"type":"object","properties":{"metadata":{"type":["object","null"]},)"
    R"("ids":{"type":"array","maxItems":1000,"items":{"type":"string"}},)"
    R"("status":{"enum":["idle","busy","interrupted","error"]},"values":{"type":"object"},)"
    R"("limit":{"type":"integer","minimum":1,"maximum":1000},)"
    R"("offset":{"type":"integer","minimum":0},)"
    R"("sort_by":{"enum":["thread_id","status","created_at","updated_at"]},)"
    R"("sort_order":{"enum":["asc","desc"]},"select":{"type":"array",)"
    R"("items":{"type":"string"}},"extract":{"type":["object","null"]}},)"
    R"("additionalProperties":false})";

}  // namespace

void add_search_routes(const Shared& shared, std::vector<Route>& routes) {
  routes.push_back(make_route(
      "POST", "/threads/search", "lgSearchThreads", "threads", "Threads that match", Access::kRead,
      [shared](Service&, Request& request) { return search_threads(*shared, request); }));
  routes.back().agent = AgentOf::kHandler;
  routes.back().body = BodySpec{kSearchBody};
  routes.push_back(make_route(
      "POST", "/threads/count", "lgCountThreads", "threads", "How many match", Access::kRead,
      [shared](Service&, Request& request) { return count_threads(*shared, request); }));
  routes.back().agent = AgentOf::kHandler;
  routes.back().body = BodySpec{kSearchBody};
}

}  // namespace skein::http
