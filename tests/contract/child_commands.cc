#include "contract/child_commands.h"

#include "skein/thread_manager.h"
#include "support/builders.h"
#include "support/child.h"
#include "support/expect.h"

namespace skein::test {
namespace {

using Arguments = std::vector<std::string>;

int append(Store& store, const Arguments& arguments) {
  const ThreadId id = must(ThreadId::parse(arguments.at(2)));
  tell_parent("ready");
  if (!hear_parent()) return 3;
  const int count = std::stoi(arguments.at(4));
  for (int i = 0; i < count; ++i) {
    const std::string text = arguments.at(3) + "-" + std::to_string(i);
    tell_parent(std::to_string(must_append(store, id, with_key(message(text), text))));
  }
  return 0;
}

int changes(Store& store, const Arguments& arguments) {
  std::string cursor = arguments.at(2);
  for (const std::string& change : drain_text(store, cursor, 7)) tell_parent(change);
  tell_parent("cursor " + cursor);
  return 0;
}

int lease(Store& store, const Arguments& arguments) {
  const ThreadId id = must(ThreadId::parse(arguments.at(2)));
  const Result<Lease> lease = store.lease(
      id, arguments.at(3), std::chrono::milliseconds(std::stoll(arguments.at(4))), std::nullopt);
  tell_parent(lease.has_value() ? "token " + std::to_string(lease->token)
                                : std::string(to_string(lease.error().code)));
  return 0;
}

int put(Store& store, const Arguments& arguments) {
  must(store.write(std::vector{record(arguments.at(2), arguments.at(3), arguments.at(4))}));
  return 0;
}

int start_limited(Store& store, const Arguments& arguments) {
  const ActiveLimit limit{"user_id", std::stoull(arguments.at(2))};
  ThreadManager manager(store, {.active_limits = {limit}});
  NewConversation conversation;
  conversation.agent_id = "agent";
  conversation.metadata = json(R"({"user_id":"u"})");
  tell_parent("ready");
  if (!hear_parent()) return 3;
  for (int i = 0; i < std::stoi(arguments.at(3)); ++i) {
    const auto made = manager.create(conversation);
    tell_parent(made ? "started" : to_string(made.error().code));
  }
  return 0;
}

}  // namespace

int child_command(const Arguments& arguments) {
  const std::unique_ptr<Store> store = must(open_store(arguments.at(1)));
  const std::string& command = arguments.at(0);
  if (command == "append") return append(*store, arguments);
  if (command == "changes") return changes(*store, arguments);
  if (command == "lease") return lease(*store, arguments);
  if (command == "put") return put(*store, arguments);
  if (command == "start_limited") return start_limited(*store, arguments);
  return 2;
}

}  // namespace skein::test
