// A server with something of everything in it, and a request for each route of /v1.
#pragma once

#include <string>
#include <vector>

#include "http/route.h"
#include "support/http_server.h"

namespace skein::test {

// A request that a route answers well.
struct Sample {
  std::string route;   // its name
  std::string target;  // path and query
  std::string body = {};
  int status = 200;  // when a key that may asks
  bool stream = false;
};

// Two agents, `mine` and `theirs`, that answer by echoing. What is here belongs to `mine`.
class RestWorld {
  TestServer server_;  // the first to be made, and the last to go
  http::RouteSet routes_;

 public:
  explicit RestWorld(const std::string& backend = "sqlite");

  TestServer& server() { return server_; }
  // The routes of /v1, as the server has them.
  const http::RouteSet& routes() const { return routes_; }
  const http::Route& route(const std::string& name) const;

  // One for each route, in an order in which all of them work.
  std::vector<Sample> samples() const;

  // Only the head, for streams.
  Answered ask(const Sample& sample, const std::string& key);
  Answered ask(const std::string& method, const std::string& target, const std::string& body,
               const std::string& key);

  // All that a request could have changed: the store's feed and the workspace's files.
  std::string traces();

  const std::string admin;         // keys: everything
  const std::string reader;        // read, all agents
  const std::string my_writer;     // write, `mine`
  const std::string their_writer;  // write, `theirs`

  std::string thread;  // with messages, a tool call and a secret word
  std::string victim;  // a thread that may be deleted
  std::string run;     // has ended
  std::string item;
  std::string session;
  std::string checkpoint;
  std::string task;
  std::string finished_task;  // one that may be completed
  std::string trigger;
  static constexpr const char* kSecret = "tourmaline";

 private:
  std::string made(const std::string& route, const std::string& target, const std::string& body,
                   const std::string& field);
};

}  // namespace skein::test
