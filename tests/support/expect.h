// Expectations about results: EXPECT_TRUE(ok(r)), EXPECT_TRUE(fails(r, ErrorCode::kBusy,
// "holder")).
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>
#include <utility>

#include "skein/error.h"

namespace skein::test {

template <class T>
testing::AssertionResult ok(const Result<T>& result) {
  if (result.has_value()) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << to_string(result.error().code) << ": " << result.error().message;
}

// `mentions`: what the message must name, the rule or the value.
template <class T>
testing::AssertionResult fails(const Result<T>& result, ErrorCode code,
                               std::initializer_list<std::string_view> mentions = {}) {
  if (result.has_value()) {
    return testing::AssertionFailure() << "no error, where " << to_string(code) << " was due";
  }
  const Error& error = result.error();
  if (error.code != code) {
    return testing::AssertionFailure()
           << to_string(error.code) << " instead of " << to_string(code) << ": " << error.message;
  }
  for (const std::string_view text : mentions) {
    if (error.message.find(text) == std::string::npos) {
      return testing::AssertionFailure() << "does not name " << text << ": " << error.message;
    }
  }
  return testing::AssertionSuccess();
}

// The value of a result that must be one; ends the test program otherwise.
template <class T>
T must(Result<T> result) {
  if (!result.has_value()) {
    ADD_FAILURE() << to_string(result.error().code) << ": " << result.error().message;
    std::abort();
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace skein::test
