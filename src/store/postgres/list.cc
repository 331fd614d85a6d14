#include "store/postgres/list.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/try.h"
#include "store/checks.h"
#include "store/postgres/rows.h"

namespace skein::postgres {
namespace {

// The text of a query grows together with its parameters; there are few different texts, and each
// is prepared once.
class Listing {
 public:
  Listing(const ListQuery& query, const ListPlan& plan)
      : query_(query), plan_(plan), after_(plan.after) {}

  Result<ThreadPage> run(Connection& connection, Deadline deadline, std::vector<Finding>& damaged);

 private:
  bool by_update() const { return query_.order == ListOrder::kUpdatedNewestFirst; }
  bool oldest_first() const { return query_.order == ListOrder::kCreatedOldestFirst; }

  template <class T>
  std::string parameter(const T& value) {
    arguments_.add(value);
    return "$" + std::to_string(arguments_.count());
  }
  std::string of_agent();
  // What else a thread must meet, as " AND …".
  std::string filter();
  std::string after_cursor();
  std::string latest(const std::string& filter, const std::string& limit);
  std::string page_query(std::size_t want);

  const ListQuery& query_;
  const ListPlan& plan_;
  std::optional<ListPlan::After> after_;
  Arguments arguments_;
};

std::string Listing::of_agent() {
  if (!query_.agent_id) return "true";
  return "t.agent = " + parameter(std::string_view(*query_.agent_id)) + "::text";
}

std::string Listing::filter() {
  std::string sql;
  if (query_.status)
    sql += " AND t.status = " + parameter(static_cast<int>(*query_.status)) + "::bigint";
  for (const auto& [key, value] : plan_.metadata) {
    sql += " AND EXISTS (SELECT FROM skein.thread_meta m WHERE m.id = t.id AND m.hash = " +
           parameter(meta_hash(key, value)) + "::bigint";
    sql += " AND m.key = " + parameter(std::string_view(key)) + "::bytea";
    sql += " AND m.value = " + parameter(std::string_view(value)) + "::bytea)";
  }
  return sql;
}

std::string Listing::after_cursor() {
  if (!after_) return "";
  const std::string us = parameter(after_->us) + "::bigint";
  const std::string id = parameter(after_->id.bits()) + "::bigint";
  const std::string column = by_update() ? "t.updated" : "t.created";
  const std::string later = oldest_first() ? " > " : " < ";
  std::string sql =
      " AND (" + column + later + us + " OR (" + column + " = " + us + " AND t.id > " + id + "))";
  // The same for the indices to begin at.
  const std::string bound = oldest_first() ? " >= " : " <= ";
  sql += (by_update() ? " AND t.listed" : " AND t.created") + bound + us;
  return sql;
}

// As many as are wanted, by the index that has the agent's threads together: to say that the agent
// is this one would let PostgreSQL go through those of all agents, in the belief that this one's
// are everywhere among them.
std::string Listing::latest(const std::string& filter, const std::string& limit) {
  std::string where = "true";
  std::string order = "t.listed DESC";
  if (query_.agent_id) {
    const std::string agent = parameter(std::string_view(*query_.agent_id)) + "::text";
    where = "(t.agent, t.listed) <= (" + agent + ", 9223372036854775807::bigint)" +
            " AND (t.agent, t.listed) >= (" + agent + ", (-9223372036854775807)::bigint)";
    order = "t.agent DESC, t.listed DESC";
  }
  return "SELECT t.updated FROM skein.threads t WHERE " + where + filter + " ORDER BY " + order +
         " LIMIT " + limit;
}

std::string Listing::page_query(std::size_t want) {
  arguments_ = {};
  const std::string own = of_agent();
  const std::string rest = filter() + after_cursor();
  const std::string limit = parameter(want) + "::bigint";
  // Manifests are looked up one by one, for what is on the page; `OFFSET 0` keeps PostgreSQL from
  // joining all of them first.
  const auto page_of = [&](const std::string& condition, const std::string& order) {
    return "SELECT " SKEIN_HEAD_COLUMNS ", m.crc, m.body FROM (SELECT " SKEIN_HEAD_COLUMNS
           " FROM skein.threads t WHERE " +
           own + rest + condition + order + " LIMIT " + limit +
           ") t LEFT JOIN LATERAL (SELECT crc, body FROM skein.manifests WHERE id = t.id OFFSET 0)"
           " m ON true" +
           order;
  };
  if (!by_update())
    return page_of("",
                   std::string(" ORDER BY t.created") + (oldest_first() ? "" : " DESC") + ", t.id");
  // Threads are listed up to a bound later than where the list has them: all that belong on the
  // page lie within that of the earliest of as many as it takes. A bound on either side says to
  // PostgreSQL that they are few, so that it goes by the index of `listed`.
  return "WITH latest AS (" + latest(rest, limit) + ") " +
         page_of(
             " AND t.listed <= 9223372036854775807 AND t.listed >= (SELECT CASE WHEN count(*) = " +
                 limit + " THEN min(updated) - " + std::to_string(kListLagUs) +
                 " ELSE (-9223372036854775807)::bigint END FROM latest)",
             " ORDER BY t.updated DESC, t.id");
}

Result<ThreadPage> Listing::run(Connection& connection, Deadline deadline,
                                std::vector<Finding>& damaged) {
  ThreadPage page;
  damaged.clear();
  if (query_.with_total) {
    arguments_ = {};
    const std::string own = of_agent();
    const std::string sql = "SELECT count(*) FROM skein.threads t WHERE " + own + filter();
    SKEIN_ASSIGN(const Answer total, connection.ask(sql, arguments_, deadline));
    page.total = static_cast<std::uint64_t>(total.integer(0, 0));
  }
  for (;;) {
    const std::size_t want = query_.limit + 1 - page.threads.size();
    const std::string sql = page_query(want);
    SKEIN_ASSIGN(const Answer answer, connection.ask(sql, arguments_, deadline));
    for (int row = 0; row < answer.rows(); ++row) {
      const Head head = head_at(answer, row);
      after_ = ListPlan::After{by_update() ? head.updated : head.created, head.id};
      auto manifest = manifest_at(answer, row, kHeadColumns, head);
      if (manifest)
        page.threads.push_back(std::move(*manifest));
      else
        damaged.push_back({.thread = head.id, .what = manifest.error().message});
    }
    if (page.threads.size() > query_.limit || static_cast<std::size_t>(answer.rows()) < want) break;
  }
  if (page.threads.size() > query_.limit) {
    page.threads.pop_back();
    page.next = list_cursor(query_, page.threads.back());
  }
  return page;
}

}  // namespace

Result<ThreadPage> list_threads(Pool& pool, const ListQuery& query,
                                const std::function<void(const Finding&)>& notice) {
  SKEIN_ASSIGN(const ListPlan plan, plan_list(query));
  std::vector<Finding> damaged;
  auto page = pool.with<ThreadPage>([&](Connection& connection, Deadline deadline) {
    return Listing(query, plan).run(connection, deadline, damaged);
  });
  for (const Finding& finding : damaged) {
    if (notice) notice(finding);
  }
  return page;
}

}  // namespace skein::postgres
