#include "cli/file_change.h"

#include "api/agent_trust.h"
#include "cli/dialogue.h"
#include "cli/line_diff.h"
#include "core/json_object.h"

namespace skein {

Outcome make_change(Context& context, const Settings& settings, const FileChange& change, bool yes,
                    std::string_view unchanged) {
  const std::string file = printable(change.file.string());
  if (change.changes()) {
    if (!context.json()) {
      context.out().write_stored("changes " + file + ":\n" +
                                 line_diff(change.before, change.after));
      SKEIN_TRY(context.out().flush());
    }
    if (!yes) {
      SKEIN_ASSIGN_OR_FAIL(const bool agreed, ask("Write this?", "to write " + file));
      if (!agreed) return fail(ErrorCode::kInvalid, "nothing was written");
    }
    SKEIN_ASSIGN(const auto notice, apply_trusted_change(settings, change));
    if (notice) print_notice(printable(*notice));
  }
  if (context.json()) {
    context.out().write(JsonObject().add("file", file).add("changed", change.changes()).str() +
                        "\n");
  } else {
    context.out().write(change.changes() ? "written to " + file + "\n"
                                         : std::string(unchanged) + ": " + file + "\n");
  }
  return kExitDone;
}

}  // namespace skein
