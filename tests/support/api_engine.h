// Engines over HTTP, pointed at the imitation of their APIs.
#pragma once

#include <boost/json/parse.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skein/engines.h"
#include "support/engine_listener.h"
#include "support/expect.h"
#include "support/messages_api.h"

namespace skein::test {

inline constexpr const char* kTestKey = "key-for-tests-0123456789abcdef";

// One engine and one imitation of its API, which answers by a script.
class ApiEngine {
 public:
  ApiEngine(const std::string& engine, std::string_view script)
      : engine_(must(make_engine(engine))),
        api_(script, MessagesApi::Takers::kAll),
        base_url_(api_.url() + (engine == "openai" ? "/v1" : "")) {
    ::setenv("SKEIN_TEST_KEY", kTestKey, 1);
  }

  // `options` are further ones, as they stand in an object: "\"retries\": 0".
  EngineRequest prepared(EngineRequest request, const std::string& options = "") const {
    if (request.model.empty()) request.model = "model-1";
    request.options =
        must(Json::parse_object(R"({"baseUrl": ")" + base_url_ +
                                R"(", "keyVariable": "SKEIN_TEST_KEY", "retryDelayMs": 1)" +
                                (options.empty() ? "" : ", ") + options + "}"));
    return request;
  }
  Result<EngineTurn> run(EngineRequest request, const std::string& options = "",
                         std::stop_token stop = {}) {
    return engine_->run(prepared(std::move(request), options), listener, stop);
  }
  Result<EngineTurn> ask(const std::string& options = "") { return run(asking("Hello?"), options); }

  // What the engine sent, one for each request.
  std::vector<boost::json::value> requests() const {
    std::vector<boost::json::value> all;
    for (const std::string& line : api_.requests()) all.push_back(boost::json::parse(line));
    return all;
  }
  // Whether a request came, whole or not yet.
  bool was_asked() const { return !api_.requests().empty(); }
  boost::json::value body(std::size_t index = 0) const { return requests().at(index).at("body"); }

  EngineListener listener;

 private:
  std::shared_ptr<Engine> engine_;
  MessagesApi api_;
  std::string base_url_;
};

}  // namespace skein::test
