#include "work/named_session.h"

#include "core/quote.h"
#include "core/try.h"
#include "work/hook_session.h"
#include "work/session_records.h"

namespace skein {

Result<NamedSession> find_named_session(Store& store, const WorkPlace& place,
                                        const std::optional<std::string>& id, bool may_be_unknown) {
  if (!id) {
    SKEIN_ASSIGN(const auto newest, newest_open_session(store, place));
    return newest ? NamedSession{newest->id, newest->project} : NamedSession{};
  }
  SKEIN_TRY(check_session_id(*id));
  SKEIN_ASSIGN(const auto stored, read_session(store, *id));
  if (stored) return NamedSession{id, stored->session.project};
  if (may_be_unknown) return NamedSession{id, std::nullopt};
  SKEIN_ASSIGN(const auto hooked, HookSessions(place.folder.string()).find(*id));
  if (hooked) return NamedSession{id, std::nullopt};
  SKEIN_ASSIGN(const auto open, read_open_sessions(store, place));
  std::vector<WorkSession> sessions;
  for (const StoredSession& one : open) sessions.push_back(one.session);
  return tl::unexpected(unknown_session(*id, sessions));
}

Error unknown_session(std::string_view id, const std::vector<WorkSession>& open) {
  std::string known;
  for (const WorkSession& other : open) known += (known.empty() ? "" : ", ") + quote(other.id);
  return {ErrorCode::kNotFound, "unknown working session " + quote(id) +
                                    " (open here: " + (known.empty() ? "none" : known) +
                                    "); start it first, or leave the session out"};
}

}  // namespace skein
