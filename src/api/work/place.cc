#include "api/work/place.h"

#include <unistd.h>

#include "core/quote.h"
#include "work/named_session.h"
#include "work/session_repository.h"

namespace skein {
namespace {

std::string project_of(const Settings& settings) {
  if (settings.project) return *settings.project;
  std::string name = repository_name(origin_url(settings.workspace));
  return check_project(name) ? name : "default";
}

}  // namespace

std::string repository_name(std::string_view remote_url) {
  constexpr std::string_view kEnd = " \t\r\n/";
  const std::size_t end = remote_url.find_last_not_of(kEnd);
  remote_url = remote_url.substr(0, end == std::string_view::npos ? 0 : end + 1);
  if (remote_url.ends_with(".git")) remote_url.remove_suffix(4);
  const std::size_t begin = remote_url.find_last_of("/:");
  return std::string(remote_url.substr(begin == std::string_view::npos ? 0 : begin + 1));
}

WorkPlace work_place(const Settings& settings) {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return {.folder = settings.workspace,
          .project = project_of(settings),
          .host = host,
          .checkout = settings.checkout};
}

std::optional<std::string> unknown_session_notice(Store& store, const WorkPlace& place,
                                                  const std::string& id) {
  const auto found = find_named_session(store, place, id, false);
  if (found || found.error().code != ErrorCode::kNotFound) return std::nullopt;
  return "SKEIN_SESSION names " + quote(id) +
         ", which is neither a working session nor one that a hook recorded here "
         "(.skein/hook.log may say why); no project of a session applies";
}

}  // namespace skein
