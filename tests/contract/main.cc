#include <gtest/gtest.h>

#include "contract/child_commands.h"
#include "support/child.h"

int main(int argc, char** argv) {
  if (const auto code = skein::test::run_as_child(argc, argv, skein::test::child_command)) {
    return *code;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
