#include "http/request_call.h"

#include <exception>
#include <utility>

#include "core/quote.h"
#include "core/try.h"
#include "skein/run.h"

namespace skein::http {
namespace {

constexpr std::size_t kMaxQuickBytes = std::size_t{64} << 10;
constexpr std::size_t kPullBytes = std::size_t{64} << 10;
// Noted instead of a status, where nobody was left to be told one.
constexpr int kClientGone = 499;

Problem internal_problem() {
  return {500, "internal", "something went wrong; the log has it under the request's id"};
}

Problem overloaded(std::string why) {
  Problem problem(503, "overloaded", std::move(why));
  problem.headers.push_back({"Retry-After", "1"});
  return problem;
}

// Whatever a library throws, out of memory included, is the end of this request alone.
template <class Work>
auto guarded(const std::weak_ptr<RequestCall>& call, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& error) {
    if (const auto still = call.lock()) return tl::unexpected(still->failed(error));
    return tl::unexpected(internal_problem());
  }
}

// A stream, looked at for its reader.
class StreamLook final : public Ongoing {
 public:
  StreamLook(std::shared_ptr<Stream> stream, std::weak_ptr<RequestCall> call, std::string id)
      : stream_(std::move(stream)), call_(std::move(call)), request_id_(std::move(id)) {}

  std::vector<Topic> topics() const override { return stream_->topics(); }
  void on_wake(std::function<void()> wake) override { stream_->on_wake(std::move(wake)); }

  Found look() override {
    Stream::Pulled pulled;
    auto got = guarded(call_, [&]() -> tl::expected<Stream::Pulled, Problem> {
      SKEIN_ASSIGN(Stream::Pulled some, stream_->pull(kPullBytes));
      return some;
    });
    if (got) {
      pulled = std::move(*got);
    } else {
      const Response problem = problem_response(got.error(), request_id_);
      pulled.frames = {share(sse_frame("error", *problem.body))};
      pulled.ended = true;
    }
    Found found{.tell = {}, .more = pulled.more, .ended = pulled.ended};
    if (pulled.frames.empty() && !pulled.ended) return found;
    found.tell = [call = call_, frames = std::move(pulled.frames), ended = pulled.ended] {
      if (const auto still = call.lock()) still->tell_frames(frames, ended);
    };
    return found;
  }

 private:
  const std::shared_ptr<Stream> stream_;
  const std::weak_ptr<RequestCall> call_;
  const std::string request_id_;
};

// Something that is waited for.
class WaitLook final : public Ongoing {
 public:
  WaitLook(std::shared_ptr<Waiting> waiting, std::weak_ptr<RequestCall> call)
      : waiting_(std::move(waiting)), call_(std::move(call)) {}

  std::vector<Topic> topics() const override { return waiting_->topics; }

  Found look() override {
    auto polled = guarded(call_, [&] { return waiting_->poll(); });
    if (polled && !*polled) return {};
    auto reply = std::make_shared<Reply>(polled ? Reply(std::move(**polled))
                                                : tl::unexpected(std::move(polled.error())));
    return {.tell =
                [call = call_, reply] {
                  if (const auto still = call.lock()) still->answer(std::move(*reply));
                },
            .more = false,
            .ended = true};
  }

 private:
  const std::shared_ptr<Waiting> waiting_;
  const std::weak_ptr<RequestCall> call_;
};

}  // namespace

RequestCall::RequestCall(Front& front, std::shared_ptr<Exchange> exchange)
    : front_(front), under_way_(front.under_way_), exchange_(std::move(exchange)) {
  ++*under_way_;
}

RequestCall::~RequestCall() { --*under_way_; }

bool RequestCall::answers_at_once() const {
  const Route& route = *matched->route;
  if (route.runs_on != RunsOn::kIoThread || request.body.size() > kMaxQuickBytes) return false;
  if (route.agent == AgentOf::kNone) return true;
  if (route.agent != AgentOf::kThread || !request.caller.all_agents) return false;
  const auto ref = ThreadRef::parse(request.parameter("thread_id"));
  return ref && ref->id();
}

void RequestCall::body(std::string body, BodyBytes::Charge charge) {
  begun_ = true;
  request.body = std::move(body);
  charge_ = std::move(charge);
  const Route& route = *matched->route;
  if (route.runs_on == RunsOn::kOwnThread || (route.goes_on && route.goes_on(request))) {
    if (auto good = front_.take_stream(*this); !good) return refuse_with(good.error());
  }
  if (answers_at_once()) {
    if (route.agent == AgentOf::kThread) {
      request.thread_id = ThreadRef::parse(request.parameter("thread_id"))->id();
    }
    return run();
  }
  run_on_a_thread();
}

void RequestCall::run_on_a_thread() {
  if (matched->route->runs_on == RunsOn::kOwnThread) return begin_lasting();
  if (!front_.parts_.pool.submit([self = shared_from_this()] { self->run(); })) {
    refuse_with(overloaded("too many requests wait already"));
  }
}

void RequestCall::run() { answer(handle()); }

Reply RequestCall::handle() {
  return guarded(weak_from_this(), [this]() -> Reply {
    if (matched->set->translate) SKEIN_TRY(matched->set->translate(*matched->route, request));
    SKEIN_TRY(front_.parts_.routes.check(*matched, request));
    if (!request.thread_id) {
      if (auto good = find_agent(); !good) return tl::unexpected(std::move(good.error()));
    }
    return matched->route->handler(front_.parts_.service, request);
  });
}

Problem RequestCall::failed(const std::exception& error) const {
  front_.parts_.service.log(std::string("the request failed: ") + error.what(), request.id);
  return internal_problem();
}

tl::expected<void, Problem> RequestCall::find_agent() {
  const Route& route = *matched->route;
  const Caller& caller = request.caller;
  if (route.agent == AgentOf::kPath) {
    const std::string& agent = request.parameter("agent_id");
    if (caller.sees(agent)) return {};
    return refuse(403, "forbidden", "this key is not for agent " + quote(agent));
  }
  if (route.agent != AgentOf::kThread && route.agent != AgentOf::kRun) return {};
  const bool by_run = route.agent == AgentOf::kRun;
  const std::string& name = request.parameter(by_run ? "run_id" : "thread_id");
  std::optional<ThreadRef> ref;
  if (by_run) {
    SKEIN_ASSIGN(const ThreadId thread, thread_of_run(name));
    ref = ThreadRef(thread);
  } else {
    SKEIN_ASSIGN(ref, ThreadRef::parse(name));
  }
  SKEIN_ASSIGN(auto manifest, front_.parts_.service.store().get(*ref));
  if (!manifest || !caller.sees(manifest->agent_id)) {
    return refuse(404, "not_found",
                  (by_run ? "there is no run " : "there is no thread ") + quote(name));
  }
  request.thread_id = manifest->id;
  request.thread = std::move(*manifest);
  return {};
}

void RequestCall::answer(Reply reply) {
  if (reply && reply->later) {
    const auto start = std::exchange(reply->later, nullptr);
    const Answer late([self = shared_from_this()](Reply given) { self->answer(std::move(given)); });
    try {
      return start(late);
    } catch (const std::exception& error) {
      return late(tl::unexpected(failed(error)));
    }
  }
  auto shared = std::make_shared<Reply>(std::move(reply));
  front_.parts_.io.post([self = shared_from_this(), shared] {
    if (!*shared) return self->refuse_with(shared->error());
    Response& response = **shared;
    if (response.stream) return self->begin_stream(std::move(response));
    if (response.waiting) return self->begin_waiting(std::move(response.waiting));
    self->respond(std::move(response));
  });
}

void RequestCall::respond(Response response) {
  if (answered_) return;
  answered_ = true;
  leave_desk();
  response.header("X-Request-Id", request.id);
  response.headers.insert(response.headers.end(), cors.begin(), cors.end());
  front_.note(*this, response.status);
  if (exchange_) exchange_->respond(response, front_.stopping_);
}

void RequestCall::refuse_with(const Problem& problem) {
  const RouteSet& set = matched ? *matched->set : front_.parts_.routes.set_of(request.path);
  Response response = set.problems(problem, request.id);
  const auto same = [](const std::string& name, const HttpHeader& other) {
    return other.name == name;
  };
  for (const HttpHeader& header : problem.headers) {
    bool there = false;
    for (const HttpHeader& other : response.headers) there = there || same(header.name, other);
    if (!there) response.headers.push_back(header);
  }
  respond(std::move(response));
}

void RequestCall::begin_stream(Response response) {
  if (answered_) return;
  if (!exchange_) {
    answered_ = true;
    front_.note(*this, response.status);
    return tell_abandoned(std::move(response.stream), nullptr);
  }
  if (front_.stopping_) return refuse_with(stopping());
  if (auto good = front_.take_stream(*this); !good) {
    tell_abandoned(std::move(response.stream), nullptr);
    return refuse_with(good.error());
  }
  answered_ = true;
  stream_ = std::move(response.stream);
  response.header("X-Request-Id", request.id);
  response.headers.insert(response.headers.end(), cors.begin(), cors.end());
  front_.note(*this, response.status);
  exchange_->begin_stream(response, stream_->heartbeat());
  place_ =
      front_.parts_.desk.add(std::make_shared<StreamLook>(stream_, weak_from_this(), request.id));
}

void RequestCall::begin_waiting(std::unique_ptr<Waiting> waiting) {
  if (answered_) return;
  if (!exchange_) {
    answered_ = true;
    front_.note(*this, kClientGone);
    return tell_abandoned(nullptr, std::move(waiting));
  }
  if (place_) return;  // it waits already, and what it waited for asks to wait
  if (auto good = front_.take_stream(*this); !good) {
    tell_abandoned(nullptr, std::move(waiting));
    return refuse_with(good.error());
  }
  waiting_ = std::move(waiting);
  place_ = front_.parts_.desk.add(std::make_shared<WaitLook>(waiting_, weak_from_this()));
}

void RequestCall::begin_lasting() {
  gone_.emplace();
  request.gone = gone_->get_token();
  WorkerThreads::Work work = [self = shared_from_this()] { self->run(); };
  if (front_.parts_.threads.try_start(work)) return;
  gone_.reset();
  refuse_with(overloaded("the system has no thread for it now"));
}

void RequestCall::tell_frames(std::vector<Bytes> frames, bool ended) {
  if (!exchange_) return;
  exchange_->send_frames(std::move(frames), ended);
}

void RequestCall::taken() {
  if (place_) front_.parts_.desk.taken(place_);
}

void RequestCall::leave_desk() {
  if (place_) front_.parts_.desk.remove(std::exchange(place_, nullptr));
  front_.let_go_stream(*this);
}

void RequestCall::over(bool complete) {
  const auto self = shared_from_this();
  exchange_ = nullptr;
  leave_desk();
  if (!complete && (stream_ || waiting_)) tell_abandoned(stream_, waiting_);
  // Nobody looks any more for what it waited for. Who still works on an answer notes it.
  const bool nobody_works = waiting_ || !begun_;
  if (nobody_works && !std::exchange(answered_, true)) front_.note(*this, kClientGone);
  if (complete || !gone_) return;
  // Whoever is stopped by that may have something to do.
  front_.parts_.pool.submit_always([gone = *gone_] { gone.request_stop(); });
}

void RequestCall::tell_abandoned(std::shared_ptr<Stream> stream, std::shared_ptr<Waiting> waiting) {
  front_.parts_.pool.submit_always(
      [call = weak_from_this(), stream = std::move(stream), waiting = std::move(waiting)] {
        guarded(call, [&]() -> Reply {
          if (stream) stream->abandoned();
          if (waiting && waiting->abandoned) waiting->abandoned();
          return no_content();
        });
      });
}

void RequestCall::look_at_time(SteadyTime now) {
  if (!waiting_ || answered_ || waiting_->timeout.count() == 0) return;
  if (now < started + waiting_->timeout || std::exchange(late_, true)) return;
  front_.parts_.pool.submit_always([self = shared_from_this(), waiting = waiting_] {
    self->answer(waiting->late ? guarded(self, [&] { return waiting->late(); })
                               : Reply(refuse(504, "timeout", "it did not happen in time")));
  });
}

void RequestCall::lock_out() {
  if (!exchange_) return;
  if (stream_) {
    leave_desk();
    exchange_->cut_stream(share(": this key is not good any more\n\n"));
  } else if (waiting_ || gone_) {
    refuse_with(unauthorized("this key is not good, or was revoked"));
  }
}

void RequestCall::end(bool waiting) {
  if (!exchange_) return;
  if (stream_) {
    leave_desk();
    exchange_->cut_stream(share(stream_->farewell()));
    // The server leaves it, not its reader.
    stream_ = nullptr;
  } else if (!answered_ && (waiting || (waiting_ && waiting_->ends_at_once))) {
    refuse_with(stopping());
  }
}

}  // namespace skein::http
