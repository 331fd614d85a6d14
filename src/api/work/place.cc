#include "api/work/place.h"

#include <unistd.h>

namespace skein {

WorkPlace work_place(const Settings& settings) {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return {.folder = settings.workspace, .project = settings.project, .host = host};
}

}  // namespace skein
