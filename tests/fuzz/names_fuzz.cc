// Timestamps, ids, aliases and the other short texts that come from outside.

#include <algorithm>
#include <cctype>
#include <string>

#include "core/json.h"
#include "fuzz/support/check.h"
#include "skein/clock.h"
#include "skein/event.h"
#include "skein/ids.h"
#include "skein/thread.h"

namespace {

using namespace skein;

template <class T>
void check_refusal(const Result<T>& result) {
  if (result) return;
  FUZZ_CHECK(result.error().code == ErrorCode::kInvalid);
  FUZZ_CHECK(valid_utf8(result.error().message) && result.error().message.size() < 1'000);
}

bool is_hex12(std::string_view text) {
  return text.size() == 12 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool is_agent(std::string_view text) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= 64 && fits(text.front()) && text != "usage.jsonl" &&
         std::all_of(text.begin(), text.end(), [&](char c) { return fits(c) || c == '.'; });
}

void check_time(std::string_view text) {
  const auto time = Timestamp::parse(text);
  check_refusal(time);
  if (!time) return;
  FUZZ_CHECK(time->is_set());
  const std::string written = time->str();
  const auto again = Timestamp::parse(written);
  // Years before 0000 or after 9999 come about by an offset only.
  if (again)
    FUZZ_CHECK(*again == *time && again->str() == written);
  else
    FUZZ_CHECK(text.find_first_of("+-", 10) != std::string_view::npos);
}

void check_ids(std::string_view text) {
  const auto id = ThreadId::parse(text);
  check_refusal(id);
  FUZZ_CHECK(id.has_value() == is_hex12(text));
  if (id) FUZZ_CHECK(id->str() == text && ThreadRef::parse(id->uuid())->id() == *id);
  const auto ref = ThreadRef::parse(text);
  check_refusal(ref);
  const auto alias = check_alias(text);
  check_refusal(alias);
  if (alias)
    FUZZ_CHECK(ref && !ref->id() && ref->alias() == *alias && *check_alias(*alias) == *alias);
  if (ref && !ref->id()) FUZZ_CHECK(alias.has_value());
  const auto agent = check_agent_id(text);
  check_refusal(agent);
  FUZZ_CHECK(agent.has_value() == is_agent(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  check_time(text);
  check_ids(text);
  const auto role = parse_role(text);
  check_refusal(role);
  if (role) FUZZ_CHECK(to_string(*role) == text);
  const auto status = parse_status(text);
  check_refusal(status);
  if (status) FUZZ_CHECK(to_string(*status) == text);
  return 0;
}
