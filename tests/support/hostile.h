// What nobody should send, for all routes of all faces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/route.h"
#include "support/http_server.h"

namespace skein::test {

// Every byte of it as %XX.
std::string encoded(std::string_view text);

bool refused(const Answered& answered);

// What is nobody's id, as a segment of a path.
std::vector<std::string> hostile_ids();
// What no route takes for a body.
std::vector<std::string> hostile_bodies();

std::size_t parameters_in_path(const http::Route& route);
// A target with what stands for a parameter of the path replaced, and without its query.
std::string with_segment(const http::Route& route, const std::string& target, std::size_t which,
                         const std::string& value);

}  // namespace skein::test
