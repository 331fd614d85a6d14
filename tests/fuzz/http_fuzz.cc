// Requests, byte by byte: whatever comes, it is understood the same in one piece and in many.

#include <string>

#include "core/json.h"
#include "fuzz/support/check.h"
#include "http/origin_rules.h"
#include "http/request.h"
#include "http/request_reader.h"

namespace {

using namespace skein;
using namespace skein::http;

struct Understood {
  int refused = 0;  // with this status
  bool whole = false;
  std::string target;
  std::string body;
  std::size_t taken = 0;  // of a whole one

  friend bool operator==(const Understood&, const Understood&) = default;
};

const ServerOptions& options() {
  static const ServerOptions kOptions = [] {
    ServerOptions small;
    small.max_header_bytes = 1024;
    small.max_body_bytes = 1024;
    return small;
  }();
  return kOptions;
}

// In pieces of that size, as a connection does it.
Understood understand(std::string_view bytes, std::size_t piece) {
  Understood understood;
  RequestReader reader(options());
  std::size_t all_taken = 0;
  std::string unread;
  bool head = false;
  while (!understood.whole && understood.refused == 0) {
    const auto taken = reader.put(unread);
    if (!taken) {
      understood.refused = taken.error().status;
      FUZZ_CHECK(understood.refused >= 400 && valid_utf8(taken.error().message));
      break;
    }
    all_taken += *taken;
    unread.erase(0, *taken);
    if (reader.has_head() && !head) {
      head = true;
      const auto read = reader.head();
      if (!read) {
        understood.refused = read.error().status;
        break;
      }
      understood.target = read->target;
      reader.read_body();
      if (!reader.is_done() && !unread.empty()) continue;
    }
    FUZZ_CHECK(reader.body_bytes() <= options().max_body_bytes);
    if (reader.is_done()) {
      understood.whole = true;
      understood.taken = all_taken;
      understood.body = reader.take_body();
      break;
    }
    if (*taken > 0 && !unread.empty()) continue;
    if (bytes.empty()) break;
    unread.append(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  if (understood.refused == 0) return understood;
  Understood refused;  // what for may depend on the pieces
  refused.refused = 1;
  return refused;
}

void check_decoding(std::string_view text) {
  for (const bool plus : {false, true}) {
    const auto decoded = decode_percent(text, plus);
    if (!decoded) continue;
    FUZZ_CHECK(valid_utf8(*decoded) && decoded->find('\0') == std::string::npos);
    FUZZ_CHECK(decoded->size() <= text.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  const Understood at_once = understand(text, text.size() + 1);
  FUZZ_CHECK(understand(text, 1) == at_once);
  FUZZ_CHECK(understand(text, 7) == at_once);
  check_decoding(text);
  static const OriginRules kRules{ServerOptions{}};
  const auto refused = kRules.check({{"Host", std::string(text)}});
  if (!refused) FUZZ_CHECK(valid_utf8(refused.error().message));
  return 0;
}
