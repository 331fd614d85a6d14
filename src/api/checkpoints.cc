#include "api/checkpoints.h"

#include "api/work/place.h"
#include "core/try.h"
#include "skein/work_items.h"
#include "work/hook_session.h"
#include "work/hooks.h"

namespace skein {
namespace {

bool is_named(const SessionChoice& session) { return session.id && !session.id->empty(); }

Result<ItemListing> open_items(const Settings& settings, Store& store,
                               const SessionChoice& session) {
  WorkItems items(store, work_place(settings), system_clock(), random_ids());
  ListItems wanted;
  wanted.of_session = true;
  if (is_named(session)) wanted.session_id = session.id;
  wanted.session_may_be_unknown = session.from_environment;
  return items.list(wanted);
}

// The store of the settings; an empty one, where there is none yet.
Result<std::unique_ptr<Store>> existing_store(const Settings& settings) {
  if (!store_exists(settings.store_url)) return open_store("memory:");
  return open_settled_store(settings, IfMissing::kRefuse);
}

Result<bool> is_hooked(const Settings& settings, const SessionChoice& session) {
  if (!is_named(session)) return false;
  SKEIN_ASSIGN(const auto known, HookSessions(settings.workspace.string()).find(*session.id));
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
void add_items(Resumed& resumed, Result<ItemListing> listing, const Notice& notice) {
  if (!listing) {
    if (notice) notice("without open items: " + listing.error().message);
    return;
  }
  resumed.project = std::move(listing->project);
  for (ListedItem& listed : listing->items) {
    resumed.open_items.push_back({std::move(listed.item.id), std::move(listed.item.text)});
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
                                   const SessionChoice& session, Notice notice) {
  Checkpoints checkpoints = workspace_checkpoints(settings, notice);
  const WorkPlace place = work_place(settings);
  if (session.from_environment && is_named(session)) {
    if (const auto unknown = unknown_session_notice(store, place, *session.id)) {
      if (notice) notice(*unknown);
      return checkpoints.create(wanted);
    }
  }
  WorkSessions working(store, place, system_clock(), random_ids());
  return Hooks(checkpoints).checkpoint(std::move(wanted), working, session.id);
}

Result<Checkpoint> make_checkpoint(const Settings& settings, NewCheckpoint wanted,
                                   const SessionChoice& session, Notice notice) {
  auto store = existing_store(settings);
  // A checkpoint is a file: storage that fails only hides the working sessions.
  if (!store && store.error().code == ErrorCode::kIo) {
    SKEIN_ASSIGN(const bool hooked, is_hooked(settings, session));
    const bool must_be_known = is_named(session) && !session.from_environment;
    if (must_be_known && !hooked) return tl::unexpected(std::move(store).error());
    if (notice) notice("without working sessions: " + store.error().message);
    store = open_store("memory:");
  }
  if (!store) return tl::unexpected(std::move(store).error());
  return make_checkpoint(settings, **store, std::move(wanted), session, std::move(notice));
}

Result<Resumed> resume_checkpoint(const Settings& settings, Store& store, std::string_view part,
                                  const SessionChoice& session, Notice notice) {
  SKEIN_ASSIGN(Resumed resumed, find_resumed(settings, part, notice));
  add_items(resumed, open_items(settings, store, session), notice);
  return resumed;
}

Result<Resumed> resume_checkpoint(const Settings& settings, std::string_view part,
                                  const SessionChoice& session, Notice notice) {
  SKEIN_ASSIGN(Resumed resumed, find_resumed(settings, part, notice));
  // Items are in a file of the workspace; without a store they only lack what is kept there.
  const auto store = existing_store(settings);
  if (store) {
    add_items(resumed, open_items(settings, **store, session), notice);
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
