// What nobody should send, sent to every route of /v1 that takes such a thing: refused with a
// reason, without a trace, and never an error of the server's own.
#include <gtest/gtest.h>

#include "support/hostile.h"
#include "support/rest_world.h"

namespace skein::test {
namespace {

using http::ParameterIn;
using http::Route;

// A problem that says which rule was broken.
void expect_problem(const Answered& answered, const std::string& what) {
  EXPECT_TRUE(refused(answered)) << what << " " << answered;
  if (!refused(answered) || answered.body.empty()) return;
  EXPECT_EQ(answered.header("content-type"), "application/problem+json") << what;
  const auto problem = answered.json();
  EXPECT_EQ(problem.at("status").to_number<int>(), answered.status) << what;
  EXPECT_FALSE(problem.at("detail").as_string().empty()) << what;
  EXPECT_LT(answered.body.size(), 2000u) << what << " is told back at length";
}

TEST(RestHostile, IdsInPaths) {
  RestWorld world;
  const std::string before = world.traces();
  for (const Sample& sample : world.samples()) {
    const Route& route = world.route(sample.route);
    for (std::size_t which = 0; which < parameters_in_path(route); ++which) {
      for (const std::string& id : hostile_ids()) {
        Sample hostile = sample;
        hostile.stream = false;
        hostile.target = with_segment(route, sample.target, which, id);
        expect_problem(world.ask(hostile, world.admin), route.method + " " + hostile.target);
      }
    }
  }
  EXPECT_EQ(world.traces(), before);
}

// What is no value of any parameter but a free text.
std::vector<std::string> hostile_values(const std::string& schema) {
  std::vector<std::string> values = {"%00", "%ff", "%ED%A0%80"};
  const bool free = schema.find("\"enum\"") == std::string::npos &&
                    schema.find("$ref") == std::string::npos &&
                    schema.find("\"string\"") != std::string::npos;
  if (free) {
    if (schema.find("date-time") != std::string::npos) values.emplace_back("yesterday");
    if (schema.find("maxLength") != std::string::npos) values.push_back(std::string(70'000, 'a'));
    return values;
  }
  for (const char* bad : {"", "-1", "1e9", "99999999999999999999999", "0x10", "1%20", "true%00",
                          "[]", "%7B%22%24gt%22%3A0%7D", "'%20OR%201%3D1"}) {
    values.emplace_back(bad);
  }
  return values;
}

TEST(RestHostile, Parameters) {
  RestWorld world;
  const std::string before = world.traces();
  for (const Sample& sample : world.samples()) {
    const Route& route = world.route(sample.route);
    const std::string path = sample.target.substr(0, sample.target.find('?'));
    const auto ask = [&](const std::string& query) {
      Sample hostile = sample;
      hostile.stream = false;
      hostile.target = path + "?" + query;
      expect_problem(world.ask(hostile, world.admin), route.method + " " + hostile.target);
    };
    ask("nosuchparameter=1");
    ask("__proto__=1");
    for (const http::Parameter& parameter : route.parameters) {
      if (parameter.in != ParameterIn::kQuery) continue;
      for (const std::string& value : hostile_values(parameter.schema)) {
        if (value.size() > 10'000 && path.size() > 0) continue;  // longer than a head may be
        ask(parameter.name + "=" + value);
      }
      if (!parameter.repeated) ask(parameter.name + "=1&" + parameter.name + "=2");
    }
  }
  EXPECT_EQ(world.traces(), before);
}

bool is_cursor(const http::Parameter& parameter) {
  for (const char* name : {"cursor", "since", "after", "Last-Event-ID"}) {
    if (parameter.name == name) return true;
  }
  return false;
}

TEST(RestHostile, CursorsThatNobodyGaveAreRefusedByTheirNamesAndValues) {
  RestWorld world;
  int asked = 0;
  for (const Sample& sample : world.samples()) {
    const Route& route = world.route(sample.route);
    for (const http::Parameter& parameter : route.parameters) {
      if (!is_cursor(parameter)) continue;
      ++asked;
      std::vector<HttpHeader> headers = {{"Authorization", "Bearer " + world.admin}};
      std::string target = sample.target;
      const std::size_t given = target.find(parameter.name + "=");
      if (given != std::string::npos) target.resize(given - 1);
      const char* const more = target.find('?') == std::string::npos ? "?" : "&";
      if (parameter.in == ParameterIn::kHeader) headers.push_back({parameter.name, "no-such.0"});
      if (parameter.in == ParameterIn::kQuery) target += more + parameter.name + "=no-such.0";
      const std::string what = route.method + " " + target + " " + parameter.name;
      const Answered answered =
          HttpConnection(world.server().port()).ask(route.method, target, {}, headers);
      EXPECT_EQ(answered.status, 400) << what;
      const std::string detail(answered.json().at("detail").as_string());
      EXPECT_TRUE(detail.starts_with(parameter.name + " must be ") ||
                  detail.starts_with(parameter.name + ": "))
          << what << ": " << detail;
      EXPECT_NE(detail.find("\"no-such.0\""), std::string::npos) << what << ": " << detail;
    }
  }
  EXPECT_GT(asked, 8);
}

TEST(RestHostile, FiltersNeverWidenToEverything) {
  RestWorld world;
  for (const std::string target : {"/v1/threads?metadata=", "/v1/search?q=tourmaline&metadata="}) {
    for (const std::string filter :
         {"{}", "[]", "null", "\"a\"", R"({"a":{"$ne":null}})", R"({"a":[1]})", R"({"a":1)",
          R"({"a":"\ud800"})", "not json"}) {
      expect_problem(world.ask("GET", target + encoded(filter), "", world.admin), filter);
    }
    // What looks like something is a key, or a value, that no thread has.
    for (const std::string filter :
         {R"({"user_id') OR 1=1 --":"u-1"})", R"({"$.user_id":"u-1"})",
          R"({"user_id\u0000":"u-1"})", R"({"*":"u-1"})", R"({"%":"u-1"})", R"({"":"u-1"})",
          R"({"user_id":1e999})", R"({"user_id":"%"})", R"({"user_id":"u-_"})",
          R"({"user_id":"u-1' OR '1'='1"})"}) {
      const Answered answered = world.ask("GET", target + encoded(filter), "", world.admin);
      EXPECT_TRUE(answered.status == 200 || refused(answered)) << filter << answered;
      EXPECT_EQ(answered.body.find(world.thread), std::string::npos) << filter << answered;
    }
  }
  // Everything in a question is text.
  for (const std::string q :
       {"\" OR \"\"", "tourmaline*", "NEAR(a b)", "col:tourmaline", "AND", "^\"'"}) {
    const Answered answered = world.ask("GET", "/v1/search?q=" + encoded(q), "", world.admin);
    EXPECT_TRUE(answered.status == 200 || answered.status == 400) << q << answered;
  }
}

TEST(RestHostile, Bodies) {
  RestWorld world;
  const std::string before = world.traces();
  for (const Sample& sample : world.samples()) {
    const Route& route = world.route(sample.route);
    if (!route.body) continue;
    for (const std::string& body : hostile_bodies()) {
      Sample hostile = sample;
      hostile.body = body;
      expect_problem(world.ask(hostile, world.admin), route.name + " " + body.substr(0, 80));
    }
  }
  EXPECT_EQ(world.traces(), before);
}

TEST(RestHostile, TooMuchOfAGoodThingIsRefusedByItsLimit) {
  RestWorld world;
  const std::string before = world.traces();
  const std::string on_thread = "/v1/threads/" + world.thread;
  const auto refuses = [&](const std::string& method, const std::string& target,
                           const std::string& body) {
    expect_problem(world.ask(method, target, body, world.admin), target);
  };
  const std::string megabytes(5u << 20, 'a');
  refuses("POST", on_thread + "/messages", R"({"text":")" + megabytes + "\"}");
  refuses("POST", on_thread + "/events", R"({"role":"user","text":")" + megabytes + "\"}");
  refuses("PATCH", on_thread, R"({"metadata":{"a":")" + std::string(70'000, 'a') + "\"}}");
  refuses("POST", "/v1/threads", R"({"title":")" + std::string(2'000, 'a') + "\"}");
  refuses("POST", "/v1/threads", R"({"agentId":")" + std::string(65, 'a') + "\"}");
  refuses("POST", "/v1/items", R"({"text":")" + std::string(9'000, 'a') + "\"}");
  refuses("POST", "/v1/tasks", R"({"agentId":"mine","text":""})");
  refuses("POST", "/v1/triggers", R"({"agentId":"mine","cron":"* * *","text":"x"})");
  std::string events = "{}";
  for (int i = 0; i < 1000; ++i) events += ",{}";
  refuses("POST", on_thread + "/events/batch", "{\"events\":[" + events + "]}");
  EXPECT_EQ(world.traces(), before);
}

TEST(RestHostile, HeadersThatWouldBeIgnoredAreRefused) {
  RestWorld world;
  const std::string before = world.traces();
  for (const char* header : {"If-Match", "Idempotency-Key"}) {
    const Answered answered =
        HttpConnection(world.server().port())
            .ask("DELETE", "/v1/threads/" + world.victim, "",
                 {{"Authorization", "Bearer " + world.admin}, {header, "\"1\""}});
    EXPECT_EQ(answered.status, 400) << answered;
  }
  EXPECT_EQ(world.traces(), before);
}

}  // namespace
}  // namespace skein::test
