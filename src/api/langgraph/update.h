// Values that a client writes into a thread, as events to append.
#pragma once

#include <optional>
#include <vector>

#include "api/langgraph/messages.h"
#include "skein/store.h"
#include "skein/thread_manager.h"
#include "thread/return_to.h"  // what is written where a plan has no events

namespace skein::langgraph {

namespace limits {
inline constexpr std::size_t kMaxRewritten = 1000;  // messages behind one that is replaced
}  // namespace limits

struct UpdatePlan {
  // In this order, one write; the first may carry a base. Empty: there is nothing to write.
  std::vector<Event> events;
  // Nothing but new messages at the end of the path, which a run may take as its input.
  bool plain = false;
  // Leaves messages behind: the last seq of the thread that it was made for. Written after anything
  // else, it would leave that behind as well.
  std::optional<Seq> made_for{};
};

// What makes `values` (an object, an array of them, or null) part of the thread's state. Messages
// are added; one whose id is there already replaces the other, which costs a branch with what came
// after it, and one of type "remove" takes it away. Other values replace those of the same name.
// `at`: the state that this goes on from is that of an earlier event, whose successors are left
// behind. kInvalid names the rule and the value.
Result<UpdatePlan> plan_update(Store& store, const Manifest& thread, std::optional<Seq> at,
                               RawJson values);

// Writes what was planned for the thread as it was read; answers the seq of the last event, or 0 of
// none. The first that is refused is the error; kConflict: the thread is no longer as the plan was
// made for.
Result<Seq> write_plan(Store& store, ThreadManager& threads, const Manifest& thread,
                       const UpdatePlan& plan);

// For those who write a plan that was not made for one state of the thread.
std::vector<Append> appends_of(ThreadId thread, const UpdatePlan& plan);
Result<Seq> last_of(const std::vector<Result<Appended>>& results);

}  // namespace skein::langgraph
