#include "support/hostile.h"

#include <algorithm>

namespace skein::test {

using http::Route;

std::string encoded(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return out;
}

bool refused(const Answered& answered) { return answered.status >= 400 && answered.status < 500; }

std::vector<std::string> hostile_ids() {
  return {"..",
          "%2e%2e",
          "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
          "a%2fb",
          "%00",
          "x%00y",
          "%ff%fe",
          "%ED%A0%80",
          "%",
          "%zz",
          "A1B2C3D4E5F6",
          encoded("' OR '1'='1"),
          encoded("*"),
          encoded("\n"),
          encoded("{\"$ne\":null}"),
          "-1",
          "0",
          "00000000-0000-4000-8000-zzzzzzzzzzzz",
          std::string(300, 'a'),
          std::string(5000, '0'),
          encoded("𝟙𝟚𝟛"),
          "null",
          "undefined"};
}

std::vector<std::string> hostile_bodies() {
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "[";
  return {
      "{",
      "nonsense",
      "[]",
      "1",
      "\"text\"",
      "null",
      "\xff\xfe",
      "{\"a\":\"\xed\xa0\x80\"}",
      "{\"text\":\"\\ud800\"}",
      "{\"text\":{\"$ne\":1},\"agentId\":7,\"status\":[],\"title\":5,\"yes\":\"no\",\"events\":7,"
      "\"threshold\":\"x\",\"seq\":\"y\",\"rebuild\":3,\"summary\":7,\"cron\":1,\"role\":\"root\","
      "\"next_steps\":1,\"text_match\":2,\"resolution_note\":1,\"agent\":1}",
      "{\"__proto__\":{\"admin\":true},\"constructor\":1,\"seq\":-1,\"title\":[],\"summary\":{},"
      "\"text\":7}",
      deep,
      "{\"metadata\":" + deep + std::string(200, ']') + "}",
      "{\"text\":\"a\",\"text\":\"b\",\"title\":1,\"summary\":1}",
  };
}

std::string with_segment(const Route& route, const std::string& target, std::size_t which,
                         const std::string& value) {
  const std::string path = target.substr(0, target.find('?'));
  std::string out;
  std::size_t at = 1;
  std::size_t in_pattern = 1;
  std::size_t named = 0;
  while (in_pattern <= route.path.size()) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::size_t pattern_end = std::min(route.path.find('/', in_pattern), route.path.size());
    const bool parameter = route.path[in_pattern] == '{';
    out += "/" + (parameter && named == which ? value : path.substr(at, end - at));
    named += parameter ? 1 : 0;
    at = end + 1;
    in_pattern = pattern_end + 1;
  }
  return out;
}

std::size_t parameters_in_path(const Route& route) {
  return static_cast<std::size_t>(std::count(route.path.begin(), route.path.end(), '{'));
}

}  // namespace skein::test
