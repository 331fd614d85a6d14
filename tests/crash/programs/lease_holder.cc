// Takes a thread's lease, writes with it, stops itself, and when it is woken writes on as if
// nothing had happened.
//
//   lease_holder URL THREAD WRITES TTL_MS
//
// Says "taken over" for each kind of write that was refused after it woke, and what went through.

#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "skein/store.h"

namespace {

using namespace skein;

Result<Appended> append(Store& store, ThreadId thread, LeaseToken token) {
  Append append{.thread = thread, .event = {}, .fence = token, .expect_seq = {}};
  append.event.payload = Message{Role::kAssistant, "by the first holder"};
  return std::move(store.append({&append, 1}).front());
}

template <class T>
bool say(const char* what, const Result<T>& result) {
  const bool refused = !result && result.error().code == ErrorCode::kFenced;
  std::printf("%s: %s\n", what,
              refused ? "taken over" : (result ? "WENT THROUGH" : result.error().message.c_str()));
  return refused;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  auto store = open_store(argv[1]);
  const auto thread = ThreadId::parse(argv[2]);
  if (!store || !thread) return 3;
  const auto lease =
      (*store)->lease(*thread, "first", std::chrono::milliseconds(std::atoi(argv[4])), {});
  if (!lease) return 3;
  for (int i = 0; i < std::atoi(argv[3]); ++i) {
    if (!append(**store, *thread, lease->token)) return 3;
  }
  ::raise(SIGSTOP);
  bool good = say("append", append(**store, *thread, lease->token));
  UpdateOptions options;
  options.fence = lease->token;
  good = say("update", (*store)->update(*thread, ManifestPatch().title("first"), options)) && good;
  RecordWrite write{
      .collection = "runs", .key = "run", .bytes = "first", .expect_version = {}, .fence = {}};
  write.fence = Fence{*thread, lease->token};
  good = say("write", (*store)->write({&write, 1})) && good;
  good = say("renew", (*store)->lease(*thread, "first", std::chrono::seconds(60), lease->token)) &&
         good;
  return good ? 0 : 1;
}
