#include "api/demo/demo.h"

#include <filesystem>

#include "api/demo/play.h"
#include "api/recall.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

Result<void> expect_empty(Store& store, const std::string& url) {
  ListQuery any;
  any.limit = 1;
  SKEIN_ASSIGN(const ThreadPage page, store.list(any));
  if (page.threads.empty()) return {};
  return fail(ErrorCode::kConflict, "the demo wants a store of its own, and " +
                                        quote(without_password(url), 200) + " has threads");
}

Result<void> expect_room(const Settings& settings) {
  const std::string folder = settings.workspace.string();
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    return fail(ErrorCode::kConflict, "the demo wants an empty folder, and " + quote(folder, 200) +
                                          " has " + quote(entry.path().filename().string(), 100) +
                                          " in it");
  }
  if (store_exists(settings.store_url)) {
    SKEIN_ASSIGN(auto store, open_settled_store(settings, IfMissing::kRefuse));
    SKEIN_TRY(expect_empty(*store, settings.store_url));
  }
  return {};
}

}  // namespace

Result<DemoSummary> make_demo(const Settings& settings, const DemoOptions& options) {
  SKEIN_ASSIGN(const DemoScript script, read_demo_script(demo_stories(), options.seed));
  SKEIN_TRY(expect_room(settings));
  DemoClock clock(options.now.is_set() ? options.now : system_clock().now());
  DemoIds ids(options.seed);
  SKEIN_ASSIGN(auto repository, DemoRepository::create(settings.workspace.string()));
  StoreOptions store_options;
  store_options.clock = &clock;
  store_options.ids = &ids;
  SKEIN_ASSIGN(auto store, open_settled_store(settings, IfMissing::kCreate, store_options));
  SKEIN_TRY(expect_empty(*store, settings.store_url));

  DemoPlay play({settings, *store, clock, ids, options.seed}, std::move(repository));
  SKEIN_TRY(play.introduce(script.cast));
  std::uint64_t done = 0;
  for (const DemoSection& section : script.sections) {
    if (options.progress) options.progress(done++, script.sections.size());
    SKEIN_TRY(play.section(section));
  }
  SKEIN_ASSIGN(DemoSummary summary, play.summary());
  SKEIN_ASSIGN(const OpenedRecall recall, open_recall(settings, *store));
  BackfillOptions backfill;
  backfill.progress = [&](const BackfillProgress& at) {
    if (options.progress) options.progress(at.done, at.total);
  };
  SKEIN_TRY(recall->backfill(backfill));
  return summary;
}

}  // namespace skein
