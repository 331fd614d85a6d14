#include "moving.h"

namespace skein::test {

boost::json::object make_folder(const Workspace& workspace, const std::string& script,
                                const std::string& name) {
  const Ran made =
      workspace.shell("python3 '" SKEIN_SOURCE_DIR "/tests/moving/'" + script + " " + name);
  EXPECT_EQ(made.code, 0) << made;
  return made.json().as_object();
}

std::map<std::string, boost::json::object> kinds_of(const Ran& ran) {
  std::map<std::string, boost::json::object> kinds;
  const boost::json::value report = ran.json();
  for (const auto& row : report.at("kinds").as_array()) {
    kinds[std::string(row.at("kind").as_string())] = row.as_object();
  }
  return kinds;
}

}  // namespace skein::test
