#include "http/server.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "api/background.h"
#include "core/json_object.h"
#include "core/pause.h"
#include "core/quote.h"
#include "core/try.h"
#include "http/audit_log.h"
#include "http/front.h"
#include "http/key_ring.h"
#include "http/listener.h"
#include "http/metrics.h"
#include "http/pool.h"
#include "http/routes.h"
#include "http/stream_desk.h"

namespace skein::http {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kRefreshKeys = 500ms;
constexpr std::chrono::milliseconds kAnswerTime = 5s;  // at the end, for what has begun
constexpr std::size_t kThreads = 32;
constexpr std::size_t kOtherDescriptors = 512;

// As many descriptors as the system gives, and no more connections than that.
std::size_t possible_connections(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const std::size_t most = limit.rlim_cur;
  return std::min(wanted, most > 2 * kOtherDescriptors ? most - kOtherDescriptors : most / 2);
}

ServerOptions completed(ServerOptions options) {
  options.max_connections = possible_connections(options.max_connections);
  if (options.threads == 0) options.threads = kThreads;
  return options;
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

Result<void> check_address(const ServerOptions& options, const KeyRing& keys) {
  if (is_loopback(options.address) || !keys.is_open()) return {};
  return fail(ErrorCode::kInvalid,
              "the address " + options.address +
                  " can be reached by others, and there are no keys: whoever reaches it could read "
                  "and write everything. Make one first: skein key create --access admin");
}

}  // namespace

class Server::Impl {
 public:
  Impl(Store& store, Parts parts)
      : options(completed(std::move(parts.options))),
        log(std::move(parts.log)),
        keys(ApiKeys(store, parts.service.clock != nullptr ? *parts.service.clock : system_clock(),
                     parts.service.ids != nullptr ? *parts.service.ids : random_ids(),
                     parts.settings.signer)),
        clock(parts.service.clock != nullptr ? *parts.service.clock : system_clock()) {}

  ~Impl() {
    stop();
    // Appends that wait are written and answered while there is somebody to answer to.
    background.reset();
    routes.reset();  // what its handlers have is on the service
    service.reset();
    front.reset();
  }

  Result<void> start(Store& store, Parts parts);
  Result<void> refresh_keys();
  void stop();
  std::string metrics_text();
  void say(std::string_view message, std::string_view request = {}) const;

  const ServerOptions options;
  const std::function<void(std::string_view)> log;
  KeyRing keys;
  Clock& clock;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Pool> pool;
  std::unique_ptr<WorkerThreads> threads;
  std::unique_ptr<StreamDesk> desk;
  std::unique_ptr<Service> service;
  std::unique_ptr<AuditLog> audit;
  std::optional<RouteTable> routes;
  Metrics metrics;
  std::unique_ptr<Front> front;
  std::unique_ptr<Background> background;
  std::jthread housekeeper;

  std::mutex mutex;  // protects what is below
  bool stopped = false;
  std::atomic<bool> stopping{false};
};

void Server::Impl::say(std::string_view message, std::string_view request) const {
  if (!log) return;
  JsonObject line;
  line.add("at", clock.now().str());
  if (!request.empty()) line.add("request", request);
  log(line.add("message", mended_utf8(message)).str());
}

Result<void> Server::Impl::start(Store& store, Parts parts) {
  SKEIN_TRY(keys.refresh());
  SKEIN_TRY(check_address(options, keys));
  if (!options.audit_file.empty()) {
    const std::string first =
        JsonObject().add("at", clock.now().str()).add("message", "the server starts").str();
    SKEIN_ASSIGN(audit, AuditLog::open(options.audit_file, clock, first));
  }
  SKEIN_ASSIGN(listener, Listener::open(options));
  pool = std::make_unique<Pool>(options.threads, options.max_queued_requests);
  threads = parts.make_thread ? std::make_unique<WorkerThreads>(std::move(parts.make_thread))
                              : std::make_unique<WorkerThreads>();
  desk = std::make_unique<StreamDesk>(*pool, *listener);

  ServiceOptions service_options = std::move(parts.service);
  service_options.indexed_on_arrival = parts.background;
  service_options.woken = [this](const Wakes::Woken& woken) { desk->wake(woken); };
  if (!service_options.log) {
    service_options.log = [this](std::string_view message, std::string_view request) {
      say(message, request);
    };
  }
  service = std::make_unique<Service>(std::move(parts.settings), store, std::move(service_options));
  desk->on_any = [this](bool any) { service->wakes().set_interested(any); };
  service->pump().on_batch([this](std::size_t appends) { metrics.batch(appends); });

  std::vector<RouteSet> sets = all_routes(*service, {.metrics = [this] { return metrics_text(); },
                                                     .stopping = [this] { return stopping.load(); },
                                                     .mcp_fixtures = parts.mcp_fixtures});
  for (RouteSet& set : parts.more_routes) sets.push_back(std::move(set));
  SKEIN_ASSIGN(routes, RouteTable::make(std::move(sets)));
  for (const RouteSet& set : routes->sets()) metrics.add_routes(set);

  front = std::make_unique<Front>(Front::Parts{*service, *routes, keys, *pool, *threads, *desk,
                                               *listener, metrics, audit.get(), options, log});
  if (parts.background) background = std::make_unique<Background>(*service);
  housekeeper = std::jthread([this](const std::stop_token& stop) {
    while (pause_for(kRefreshKeys, stop)) {
      if (const auto done = refresh_keys(); !done) {
        say("keys cannot be read: " + done.error().message);
      }
    }
  });
  listener->start(*front);
  return {};
}

Result<void> Server::Impl::refresh_keys() {
  SKEIN_TRY(keys.refresh());
  listener->post([this] { front->keys_changed(); });
  return {};
}

void Server::Impl::stop() {
  const std::lock_guard lock(mutex);
  if (stopped || !front) return;
  stopped = true;
  stopping = true;
  say("stopping");
  const auto on_io = [this](const std::function<void()>& work) {
    std::promise<void> done;
    listener->post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  };
  const auto wait_for_answers = [this] {
    const auto until = std::chrono::steady_clock::now() + kAnswerTime;
    while (front->under_way() > 0 && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(2ms);
    }
  };
  // In this order: no request is let in whose body would be waited for.
  on_io([this] { front->stop(); });
  listener->drain();
  if (background) background->stop();
  service->runner().close(options.drain);
  // What was waited for has happened, and is being told.
  wait_for_answers();
  on_io([this] { front->end_waiting(); });
  for (const RouteSet& set : routes->sets()) {
    if (set.stop) set.stop();
  }
  wait_for_answers();
  listener->stop();
  threads.reset();
  pool->stop();
  housekeeper = {};
  say("stopped");
}

std::string Server::Impl::metrics_text() {
  const auto number = [](auto value) { return static_cast<double>(value); };
  const Listener::Figures io = listener->figures();
  const Pool::Figures work = pool->figures();
  const AppendPump::Figures pump = service->pump().figures();
  std::vector<Gauge> gauges = {
      {"skein_http_connections", "Connections that are open.", number(io.connections)},
      {"skein_http_connections_total", "Connections so far.", number(io.accepted), true},
      {"skein_http_dropped_total", "Clients that were too slow or too many.", number(io.dropped),
       true},
      {"skein_http_body_bytes", "Bodies of requests under way.", number(io.buffered_bytes)},
      {"skein_http_unsent_bytes", "Answers that clients did not take yet.",
       number(io.unsent_bytes)},
      {"skein_http_streams", "Streams that are open, and answers that are waited for.",
       number(desk->size())},
      {"skein_http_under_way", "Requests that are not answered yet.", number(front->under_way())},
      {"skein_pool_threads", "Threads for what blocks.", number(work.threads)},
      {"skein_pool_busy", "Of these, those at work.", number(work.busy)},
      {"skein_pool_queue", "Work that waits for one.", number(work.queued)},
      {"skein_append_queue", "Appends that wait for the store.", number(pump.waiting)},
      {"skein_appends_total", "Appends so far.", number(pump.appends), true},
      {"skein_append_batches_total", "Calls of the store for them.", number(pump.batches), true},
      {"process_resident_memory_bytes", "Memory of the process.", resident_bytes()}};
  if (background) {
    if (const auto lag = background->index_lag()) {
      gauges.push_back({"skein_index_lag", "Messages that are not indexed yet.", number(*lag)});
    }
  }
  return metrics.text(gauges, service->store().commit_sizes());
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::start(Store& store, Parts parts) {
  auto impl = std::make_unique<Impl>(store, parts);
  SKEIN_TRY(impl->start(store, std::move(parts)));
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::uint16_t Server::port() const { return impl_->listener->port(); }

std::string Server::url() const {
  const std::string& address = impl_->options.address;
  const bool six = address.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}", six ? "[" : "", address, six ? "]" : "", port());
}

Result<void> Server::refresh_keys() { return impl_->refresh_keys(); }
Service& Server::service() { return *impl_->service; }
void Server::stop() { impl_->stop(); }

}  // namespace skein::http
