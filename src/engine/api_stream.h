// A request to a provider, whose response is a stream of events.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/http_client.h"
#include "core/sse_parser.h"
#include "core/try.h"
#include "engine/api_options.h"

namespace skein {

// Makes sense of one response.
class StreamReader {
 public:
  virtual ~StreamReader() = default;
  // True: more is to come. False: the response is complete. kBusy: the provider is overloaded.
  virtual Result<bool> take(const SseEvent& event) = 0;
  // Whether anything of the response was told to anybody.
  virtual bool has_told() const = 0;
};

struct ApiCall {
  std::string path{};  // after the base URL
  std::vector<HttpHeader> headers{};
  std::string body{};
  std::string key{};  // taken out of every message
};

// Sends the request, and again while the provider is overloaded, cannot be reached or hangs up, as
// long as nothing of a response was told: after that, and for everything that a repetition would
// not change, it fails. Waits twice as long each time, or as long as the provider asks for. `begin`
// makes the reader of each attempt, which the caller keeps. Errors are those of Engine::run.
Result<void> stream_response(HttpClient& client, const ApiOptions& options, const ApiCall& call,
                             const std::function<StreamReader&()>& begin,
                             const std::stop_token& stop);

// The turn that a Reader makes of the response, with what it cost.
template <class Reader>
Result<EngineTurn> stream_turn(HttpClient& client, const ApiOptions& options, const ApiCall& call,
                               EngineSink& sink, const std::stop_token& stop) {
  std::optional<Reader> reader;
  const auto begin = [&]() -> StreamReader& { return reader.emplace(sink); };
  auto done = stream_response(client, options, call, begin, stop);
  EngineTurn turn = reader ? std::move(reader->turn()) : EngineTurn{};
  turn.usage.cost_usd = options.cost_of(turn.usage);
  if (done) return turn;
  if (turn.usage.is_something()) sink.on_spent(turn.usage, turn.model);
  return tl::unexpected(std::move(done).error());
}

// The object that an event holds. kIo, quoting it, if it is none.
Result<Json> event_object(const SseEvent& event);

// What a provider said about an error: the message within any of the usual forms, else the
// beginning of the text itself.
std::string provider_message(std::string_view body);

// How often to wait how long: for attempt 0, 1, 2 …, between half and all of `first`, doubled each
// time, half a minute at most.
std::chrono::milliseconds backoff(std::chrono::milliseconds first, std::int64_t attempt,
                                  std::uint64_t random);

}  // namespace skein
