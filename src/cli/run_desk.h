// The workspace's runner, for commands.
#pragma once

#include <memory>

#include "api/runs.h"
#include "cli/context.h"

namespace skein {

struct OpenDesk {
  std::unique_ptr<Store> store;
  std::unique_ptr<RunDesk> desk;
  std::shared_ptr<const RecordSigner> signer;  // that of the settings

  Runner& runner() const { return desk->runner(); }
};

// What a process that died left open is closed first.
tl::expected<OpenDesk, Failure> open_desk(Context& context, IfMissing if_missing);
tl::expected<OpenDesk, Failure> open_desk(Context& context, const Settings& settings,
                                          IfMissing if_missing);

}  // namespace skein
