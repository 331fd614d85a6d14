// A world with something of everything that LangGraph's routes show, and a request for each of
// them.
#pragma once

#include <string>
#include <vector>

#include "support/rest_world.h"

namespace skein::test {

// A request that a route answers well.
struct LangGraphSample {
  std::string route;   // its name
  std::string target;  // path and query
  std::string body = {};
  int others = 404;  // for the key of another agent
  int status = 200;  // for a key that may
};

// What is here belongs to `mine`, and items and checkpoints to nobody.
class LangGraphWorld {
  RestWorld rest_;  // the first to be made, and the last to go
  http::RouteSet routes_;

 public:
  LangGraphWorld();

  RestWorld& rest() { return rest_; }
  // LangGraph's, the store's and the saver's, as the server has them.
  const http::RouteSet& routes() const { return routes_; }
  const http::Route& route(const std::string& name) const;

  // One for each route, in an order in which all of them work.
  std::vector<LangGraphSample> samples() const;
  // Only the head, for streams.
  Answered ask(const LangGraphSample& sample, const std::string& key);

  // The first of what is here that an answer shows; empty: nothing.
  std::string shown_in(const Answered& answered) const;

 private:
  Answered ask(const std::string& method, const std::string& target, const std::string& body,
               const std::string& key);
  std::string made(const std::string& path, const std::string& body, const std::string& field);
  std::string on_thread(const std::string& rest) const { return "/threads/" + thread_ + rest; }

  std::string thread_;
  std::string run_;
  std::string checkpoint_;
  std::string cron_;
};

}  // namespace skein::test
