#include "api/service.h"

#include <utility>

#include "api/work/place.h"

namespace skein {
namespace {

RunnerOptions with_wakes(const ServiceOptions& options, Wakes& wakes) {
  RunnerOptions runner = options.runner;
  if (runner.clock == nullptr) runner.clock = options.clock;
  if (runner.ids == nullptr) runner.ids = options.ids;
  if (!runner.log && options.log) {
    runner.log = [log = options.log](std::string_view message) { log(message, {}); };
  }
  runner.on_change = [&wakes](ThreadId thread) { wakes.wake(thread); };
  return runner;
}

ThreadManagerOptions manager_options(const Settings& settings, const ServiceOptions& options) {
  ThreadManagerOptions manager;
  manager.clock = options.clock;
  manager.ids = options.ids;
  manager.active_limits = settings.active_limits;
  return manager;
}

}  // namespace

struct Service::Parts {
  Parts(Settings with_settings, Store& with_store, ServiceOptions options)
      : settings(std::move(with_settings)),
        store(with_store),
        clock(options.clock != nullptr ? *options.clock : system_clock()),
        ids(options.ids != nullptr ? *options.ids : random_ids()),
        log(options.log),
        wakes(store, options.woken),
        pump(store),
        threads(store, manager_options(settings, options)),
        plain_threads(store),
        desk(settings, store, with_wakes(options, wakes), options.indexed_on_arrival),
        tasks(store, desk.runner(), desk.agents(), clock, ids, settings.signer),
        triggers(store, clock, ids, settings.signer),
        items(store, work_place(settings), clock, ids),
        sessions(store, work_place(settings), clock, ids),
        summaries(store, desk.agents(), [this](ThreadId thread) { wakes.wake(thread); }) {}

  const Settings settings;
  Store& store;
  Clock& clock;
  IdSource& ids;
  const std::function<void(std::string_view, std::string_view)> log;
  Wakes wakes;
  AppendPump pump;
  ThreadManager threads;
  Threads plain_threads;
  RunDesk desk;
  Tasks tasks;
  Triggers triggers;
  WorkItems items;
  WorkSessions sessions;
  SummaryJobs summaries;  // the first to go
};

Service::Service(Settings settings, Store& store, ServiceOptions options)
    : parts_(std::make_unique<Parts>(std::move(settings), store, std::move(options))) {}
Service::~Service() = default;

const Settings& Service::settings() const { return parts_->settings; }
Clock& Service::clock() { return parts_->clock; }
IdSource& Service::ids() { return parts_->ids; }
Store& Service::store() { return parts_->store; }
ThreadManager& Service::threads() { return parts_->threads; }
Threads& Service::plain_threads() { return parts_->plain_threads; }
Runner& Service::runner() { return parts_->desk.runner(); }
WorkspaceAgents& Service::agents() { return parts_->desk.agents(); }
Tasks& Service::tasks() { return parts_->tasks; }
Triggers& Service::triggers() { return parts_->triggers; }
WorkItems& Service::items() { return parts_->items; }
WorkSessions& Service::sessions() { return parts_->sessions; }
Result<Recall*> Service::recall() { return parts_->desk.recall().get(); }
Result<void> Service::forget_in_index(const std::vector<ThreadId>& threads) {
  return parts_->desk.recall().forget(threads);
}
SummaryJobs& Service::summaries() { return parts_->summaries; }
AppendPump& Service::pump() { return parts_->pump; }
Wakes& Service::wakes() { return parts_->wakes; }

void Service::log(std::string_view message, std::string_view request) const {
  if (parts_->log) parts_->log(message, request);
}

}  // namespace skein
