#include "http/page.h"

#include <algorithm>
#include <cctype>

#include "http/page_files.h"

namespace skein::http {
namespace {

// Nothing but its own files, nothing inline, no other page around it, and no way to make a script
// or markup out of text.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// One that says "gzip;q=0" gets what it can read anyway: the file as it is.
bool takes_gzip(const Request& request) {
  const std::string accepted = lower(request.header("Accept-Encoding").value_or(""));
  const std::size_t at = accepted.find("gzip");
  return at != std::string::npos && accepted.compare(at, 8, "gzip;q=0") != 0;
}

// Files that change under the same name are asked for again, and usually have not changed.
void add_headers(Response& response, const PageFile& file) {
  response.header("ETag", std::string(file.etag))
      .header("Cache-Control", file.immutable ? "public, max-age=31536000, immutable" : "no-cache")
      .header("Vary", "Accept-Encoding")
      .header("Content-Security-Policy", kPolicy)
      .header("Referrer-Policy", "no-referrer")
      .header("Cross-Origin-Opener-Policy", "same-origin")
      .header("X-Frame-Options", "DENY");
}

Route file_route(const PageFile& file) {
  const Bytes bytes = share(std::string(file.bytes));
  const Bytes gzipped = file.gzipped.empty() ? nullptr : share(std::string(file.gzipped));
  Route route;
  route.method = "GET";
  route.path = std::string(file.path);
  route.name = "page " + route.path;
  route.tag = "page";
  route.summary = "A file of the page";
  route.access = Access::kOpen;
  route.responses = {{200, "The file.", R"({"type":"string"})", std::string(file.content_type)}};
  route.runs_on = RunsOn::kIoThread;
  route.handler = [file, bytes, gzipped](Service&, Request& request) -> Reply {
    Response response;
    if (request.header("If-None-Match") == file.etag) {
      response.status = 304;
      add_headers(response, file);
      return response;
    }
    const bool packed = gzipped != nullptr && takes_gzip(request);
    response.body = packed ? gzipped : bytes;
    response.header("Content-Type", std::string(file.content_type));
    if (packed) response.header("Content-Encoding", "gzip");
    add_headers(response, file);
    return response;
  };
  return route;
}

}  // namespace

RouteSet page_routes() {
  RouteSet set;
  set.name = "page";
  set.in_openapi = false;
  set.strict_queries = false;
  for (const PageFile& file : page_files()) set.routes.push_back(file_route(file));
  return set;
}

}  // namespace skein::http
