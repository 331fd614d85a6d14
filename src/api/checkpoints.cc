#include "api/checkpoints.h"

#include "api/work/place.h"
#include "core/try.h"
#include "skein/work_items.h"
#include "work/hook_session.h"
#include "work/hooks.h"

namespace skein {
namespace {

Result<std::vector<Resumed::OpenItem>> open_items(const Settings& settings, Store& store) {
  WorkItems items(store, work_place(settings), system_clock(), random_ids());
  SKEIN_ASSIGN(const ItemListing listing, items.list({}));
  std::vector<Resumed::OpenItem> open;
  for (const ListedItem& listed : listing.items) open.push_back({listed.item.id, listed.item.text});
  return open;
}

// The store of the settings; an empty one, where there is none yet.
Result<std::unique_ptr<Store>> existing_store(const Settings& settings) {
  if (!store_exists(settings.store_url)) return open_store("memory:");
  return open_settled_store(settings, IfMissing::kRefuse);
}

Result<bool> is_hooked(const Settings& settings, const std::optional<std::string>& session) {
  if (!session || session->empty()) return false;
  SKEIN_ASSIGN(const auto known, HookSessions(settings.workspace.string()).find(*session));
  return known.has_value();
}

Result<Resumed> find_resumed(const Settings& settings, std::string_view part,
                             const Notice& notice) {
  Checkpoints checkpoints = workspace_checkpoints(settings, notice);
  std::string id(part);
  if (id.empty()) {
    CheckpointQuery newest;
    newest.types = {CheckpointType::kCheckpoint, CheckpointType::kHandoff};
    newest.limit = 1;
    SKEIN_ASSIGN(const auto entries, checkpoints.list(newest));
    if (entries.empty()) return fail(ErrorCode::kNotFound, "there is no checkpoint to resume from");
    id = entries.front().id;
  }
  Resumed resumed;
  SKEIN_ASSIGN(resumed.checkpoint, checkpoints.get(id));
  resumed.drift = checkpoints.drift(resumed.checkpoint);
  return resumed;
}

// Without them one can go on all the same.
void add_items(Resumed& resumed, Result<std::vector<Resumed::OpenItem>> items,
               const Notice& notice) {
  if (items) {
    resumed.open_items = std::move(*items);
  } else if (notice) {
    notice("without open items: " + items.error().message);
  }
}

}  // namespace

Checkpoints workspace_checkpoints(const Settings& settings, Notice notice) {
  CheckpointsOptions options;
  options.workspace = settings.workspace.string();
  options.knowledge_repos = settings.knowledge_repos;
  options.notice = std::move(notice);
  return Checkpoints(std::move(options));
}

Result<Checkpoint> make_checkpoint(const Settings& settings, Store& store, NewCheckpoint wanted,
                                   const std::optional<std::string>& session, Notice notice) {
  Checkpoints checkpoints = workspace_checkpoints(settings, std::move(notice));
  WorkSessions working(store, work_place(settings), system_clock(), random_ids());
  return Hooks(checkpoints).checkpoint(std::move(wanted), working, session);
}

Result<Checkpoint> make_checkpoint(const Settings& settings, NewCheckpoint wanted,
                                   const std::optional<std::string>& session, Notice notice) {
  auto store = existing_store(settings);
  // A checkpoint is a file: storage that fails only hides the working sessions.
  if (!store && store.error().code == ErrorCode::kIo) {
    SKEIN_ASSIGN(const bool hooked, is_hooked(settings, session));
    if (session && !session->empty() && !hooked) return tl::unexpected(std::move(store).error());
    if (notice) notice("without working sessions: " + store.error().message);
    store = open_store("memory:");
  }
  if (!store) return tl::unexpected(std::move(store).error());
  return make_checkpoint(settings, **store, std::move(wanted), session, std::move(notice));
}

Result<Resumed> resume_checkpoint(const Settings& settings, Store& store, std::string_view part,
                                  Notice notice) {
  SKEIN_ASSIGN(Resumed resumed, find_resumed(settings, part, notice));
  add_items(resumed, open_items(settings, store), notice);
  return resumed;
}

Result<Resumed> resume_checkpoint(const Settings& settings, std::string_view part, Notice notice) {
  SKEIN_ASSIGN(Resumed resumed, find_resumed(settings, part, notice));
  // Items are in a file of the workspace; without a store they only lack what is kept there.
  const auto store = existing_store(settings);
  if (store) {
    add_items(resumed, open_items(settings, **store), notice);
  } else {
    add_items(resumed, tl::unexpected(store.error()), notice);
  }
  return resumed;
}

Result<PurgedCheckpoints> purge_checkpoints(const Settings& settings, const PurgeOptions& options) {
  Checkpoints checkpoints = workspace_checkpoints(settings);
  PurgedCheckpoints purged;
  SKEIN_ASSIGN(purged.checkpoints, checkpoints.purge(options));
  if (options.dry_run) return purged;
  const Timestamp now = checkpoints.options().clock->now();
  HookSessions sessions(settings.workspace.string());
  SKEIN_ASSIGN(
      purged.sessions,
      sessions.forget_before(Timestamp::from_ms(now.ms() - options.older_than_days * 86'400'000)));
  return purged;
}

}  // namespace skein
