// What the protocol's conformance suites call by name. Nothing of it is Skein's; a server has it
// only when it is started with --conformance-fixtures.
#pragma once

#include "mcp/catalogue.h"

namespace skein::mcp {

// Where the fixtures reach the server that they belong to; set once it is there.
struct FixtureHooks {
  std::function<void()> tools_changed{};
  std::function<void()> prompts_changed{};
};

// Borrows the hooks.
void add_fixtures(Catalogue& catalogue, const FixtureHooks& hooks);

}  // namespace skein::mcp
