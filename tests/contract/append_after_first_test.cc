#include <algorithm>

#include "contract/contract.h"
#include "skein/limits.h"
#include "store/append_after_first.h"

namespace skein::test {
namespace {

class AppendAfterFirst : public StoreContract {
 protected:
  std::vector<Append> appends(std::size_t count) {
    std::vector<Append> all(count);
    for (Append& append : all) {
      append.thread = thread_;
      append.event = message("new");
    }
    all.front().expect_seq = 2;
    return all;
  }
  std::size_t accepted(const std::vector<Append>& all) {
    const auto answers = append_after_first(store(), all);
    EXPECT_EQ(answers.size(), all.size());
    return static_cast<std::size_t>(std::count_if(answers.begin(), answers.end(),
                                                  [](const auto& one) { return one.has_value(); }));
  }

  const ThreadId thread_ = create_thread(store(), "agent", {message("old")}).id;
};
INSTANTIATE_TEST_SUITE_P(, AppendAfterFirst, testing::ValuesIn(backend_names()), backend_of);

TEST_P(AppendAfterFirst, WritesAllOfThemInTheirOrder) {
  EXPECT_EQ(accepted(appends(3)), 3U);
  EXPECT_EQ(get_thread(store(), thread_).last_seq, 4U);
}

TEST_P(AppendAfterFirst, WritesNoneIfTheFirstWouldStandElsewhere) {
  // As many as would let the second stand where it was meant to.
  must_append(store(), thread_, message("meanwhile"));
  EXPECT_EQ(accepted(appends(3)), 0U);
  EXPECT_EQ(get_thread(store(), thread_).last_seq, 2U);
}

TEST_P(AppendAfterFirst, WritesNoneIfOneBreaksARuleOrThereAreTooMany) {
  auto all = appends(3);
  all.back().event.payload = Message{.role = Role::kUser, .text = "\xff"};
  EXPECT_EQ(accepted(all), 0U);
  EXPECT_EQ(accepted(appends(limits::kMaxBatch + 1)), 0U);
  EXPECT_EQ(get_thread(store(), thread_).last_seq, 1U);
}

}  // namespace
}  // namespace skein::test
