// What every case of the contract starts with: a fresh store of the backend that the case is named
// after. A suite is declared with SKEIN_ON_EVERY_BACKEND and filled with TEST_P.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "skein/limits.h"
#include "skein/store.h"
#include "support/backend.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): for 5s and 10ms only

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class StoreContract : public testing::TestWithParam<std::string> {
 protected:
  Store& store() { return backend_.store(); }
  ManualClock& clock() { return backend_.clock(); }

  // How many threads there are in all.
  std::uint64_t thread_count() {
    ListQuery query;
    query.with_total = true;
    query.limit = 1;
    return must(store().list(query)).total.value_or(0);
  }

  // The feed so far, to tell whether a refused write left something in it.
  std::vector<std::string> whole_feed() {
    std::string cursor;
    return drain_text(store(), cursor);
  }

  Backend backend_{GetParam()};
};

inline std::string backend_of(const testing::TestParamInfo<std::string>& info) {
  return info.param;
}

}  // namespace skein::test

#define SKEIN_ON_EVERY_BACKEND(Suite)    \
  class Suite : public StoreContract {}; \
  INSTANTIATE_TEST_SUITE_P(, Suite, testing::ValuesIn(backend_names()), backend_of)

#define SKEIN_ON_PERSISTENT_BACKENDS(Suite)             \
  class Suite : public StoreContract {};                \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Suite); \
  INSTANTIATE_TEST_SUITE_P(, Suite, testing::ValuesIn(persistent_backend_names()), backend_of)
