// What stands between connections and handlers: who may, what is right, and whose turn it is.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "api/service.h"
#include "core/worker_threads.h"
#include "http/audit_log.h"
#include "http/io.h"
#include "http/key_ring.h"
#include "http/metrics.h"
#include "http/options.h"
#include "http/origin_rules.h"
#include "http/pool.h"
#include "http/route.h"
#include "http/stream_desk.h"

namespace skein::http {

class RequestCall;

// Everything here happens on the I/O thread, unless it says otherwise.
class Front final : public Receiver {
 public:
  struct Parts {
    Service& service;
    const RouteTable& routes;
    const KeyRing& keys;
    Pool& pool;
    WorkerThreads& threads;  // for routes with a thread of their own
    StreamDesk& desk;
    IoThread& io;
    Metrics& metrics;
    AuditLog* audit;  // null: none
    const ServerOptions& options;
    std::function<void(std::string_view line)> log;  // may be absent
  };
  explicit Front(Parts parts);

  std::shared_ptr<Call> begin(Head head, std::shared_ptr<Exchange> exchange) override;
  Response malformed(const Problem& problem) override;
  void tick(SteadyTime now) override;

  // The keys were read: whoever goes on with one that counts no more is cut off.
  void keys_changed();
  // Streams are told; what is waited for goes on until `end_waiting`.
  void stop();
  void end_waiting();
  // Requests that have no whole answer yet. Any thread.
  std::size_t under_way() const { return under_way_->load(); }

 private:
  friend class RequestCall;

  tl::expected<void, Problem> admit(RequestCall& call, Head& head);
  tl::expected<void, Problem> admit_body(RequestCall& call, const Head& head) const;
  std::optional<Response> preflight(const Head& head) const;
  std::string request_id(const Head& head);
  // Whether one more stream of that caller is within the limits; counts it if so, and once.
  tl::expected<void, Problem> take_stream(RequestCall& call);
  void let_go_stream(RequestCall& call);
  // Notes the answer: metrics, log, audit.
  void note(const RequestCall& call, int status);

  const Parts parts_;
  const OriginRules origins_;
  RateLimit rate_;
  const std::string id_prefix_;
  std::uint64_t next_id_ = 0;
  std::unordered_set<RequestCall*> ongoing_;
  std::unordered_map<std::string, std::size_t> streams_by_key_;
  bool stopping_ = false;
  // Shared with the calls, some of which may be let go after this.
  const std::shared_ptr<std::atomic<std::size_t>> under_way_ =
      std::make_shared<std::atomic<std::size_t>>(0);
  std::stop_source stop_;
};

}  // namespace skein::http
