// Bodies and parameters of requests, held against every schema of /v1.

#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "fuzz/support/check.h"
#include "http/schema.h"
#include "http/v1/named_shapes.h"

namespace {

using namespace skein;

std::vector<http::Schema> all_schemas() {
  const http::v1::NamedShapes shapes = http::v1::named_shapes();
  std::vector<http::Schema> schemas;
  for (const auto& [name, shape] : shapes) {
    auto schema = http::Schema::make(shape, shapes);
    FUZZ_CHECK(schema.has_value());
    schemas.push_back(std::move(*schema));
  }
  return schemas;
}

// A refusal is told to whoever asked: it must be text, and no longer than a sentence.
void check_refusal(const Result<void>& checked) {
  if (checked) return;
  FUZZ_CHECK(checked.error().code == ErrorCode::kInvalid);
  FUZZ_CHECK(valid_utf8(checked.error().message));
  FUZZ_CHECK(checked.error().message.size() < 1000);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const std::vector<http::Schema> kSchemas = all_schemas();
  const std::string text(reinterpret_cast<const char*>(data), size);
  const bool is_json = validate_json(text, "body").has_value();
  for (const http::Schema& schema : kSchemas) {
    check_refusal(schema.check_text(text));
    if (is_json) check_refusal(schema.check(text));
  }
  return 0;
}
