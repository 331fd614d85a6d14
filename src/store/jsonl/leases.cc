#include "core/json.h"
#include "core/try.h"
#include "store/checks.h"
#include "store/jsonl/line.h"
#include "store/jsonl/store_impl.h"

namespace skein::jsonl {
namespace {

constexpr std::size_t kLongestLease = std::size_t{64} << 10;

}  // namespace

bool JsonlStore::lease_is_damaged(ThreadId id) {
  const auto line = read_file(folder_->own_path("leases", id), kLongestLease);
  return line && *line && check_frame(**line) != Frame::kVerified;
}

// A damaged lease is nobody's: whoever held it is refused, and starts anew.
Result<LeaseState> JsonlStore::read_lease(ThreadId id) {
  SKEIN_ASSIGN(const auto line, read_file(folder_->own_path("leases", id), kLongestLease));
  LeaseState lease;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  if (!line || check_frame(*line) != Frame::kVerified || !reader.read(*line, members)) return lease;
  for (const JsonMember& member : members) {
    if (member.name == "token") {
      lease.token = static_cast<LeaseToken>(json_to_int(member.value).value_or(0));
    } else if (member.name == "holder") {
      lease.holder = json_to_string(member.value).value_or("");
    } else if (member.name == "expiresBootMs") {
      lease.expires_boot_ms = json_to_int(member.value).value_or(0);
    } else if (member.name == "bootId") {
      lease.boot_id = json_to_string(member.value).value_or("");
    }
  }
  return lease;
}

Result<void> JsonlStore::write_lease(ThreadId id, const LeaseState& lease) {
  SKEIN_TRY(folder_->flusher().check());
  const std::string path = folder_->own_path("leases", id);
  if (lease.token == 0) {
    SKEIN_TRY(remove_file(path));
    return folder_->flusher().folder(folder_->own_path("leases"));
  }
  std::string line = R"({"token":)";
  append_json_number(line, lease.token);
  line.append(R"(,"holder":)");
  append_json_string(line, lease.holder);
  line.append(R"(,"expiresBootMs":)");
  append_json_number(line, lease.expires_boot_ms);
  line.append(R"(,"bootId":)");
  append_json_string(line, lease.boot_id);
  close_line(line, 0);
  return replace_file(path, line, folder_->flusher());
}

Result<Lease> JsonlStore::lease(ThreadId id, std::string_view holder, std::chrono::milliseconds ttl,
                                std::optional<LeaseToken> token) {
  SKEIN_TRY(check_lease(holder, ttl, token));
  const std::shared_ptr<ThreadState> thread = threads_.get(id);
  SKEIN_ASSIGN(const ThreadLock lock, ThreadLock::acquire(*folder_, *thread));
  SKEIN_ASSIGN(const auto agent, catalog_.locate(id));
  if (!agent) return tl::unexpected(unknown_thread(id));
  SKEIN_ASSIGN(LeaseState state, read_lease(id));
  SKEIN_ASSIGN(const Lease lease,
               change_lease(state, id, holder, ttl, token, folder_->clock(), folder_->ids()));
  // A run gives its lease back when it ends. Line 1 that is not written is only behind: the lease
  // has to go all the same.
  if (state.token == 0) (void)writer_.settle_head(*thread);
  SKEIN_TRY(write_lease(id, state));
  commits_.add(1);
  return lease;
}

}  // namespace skein::jsonl
