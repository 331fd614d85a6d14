// The checksum that every event, manifest and record that we write carries.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

struct XXH3_state_s;

namespace skein {

// Chain pieces by handing the result on as the seed.
std::uint32_t checksum(std::string_view bytes, std::uint64_t seed = 0);

// The checksum of a text that grows: at any time what checksum() says of all that was added.
class RunningChecksum {
 public:
  RunningChecksum();
  void add(std::string_view bytes);
  std::uint32_t value() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace skein
