#include "core/quotation.h"

#include <algorithm>
#include <array>

#include "core/json.h"
#include "core/quote.h"

namespace skein {
namespace {

// How many bytes end a line at the beginning of the text; 0: none.
std::size_t line_end(std::string_view text) {
  constexpr std::array<std::string_view, 8> kEnds = {
      "\r\n", "\n", "\r", "\v", "\f", "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"};
  const auto* found = std::find_if(kEnds.begin(), kEnds.end(),
                                   [text](std::string_view end) { return text.starts_with(end); });
  return found == kEnds.end() ? 0 : found->size();
}

}  // namespace

std::string as_quotation(std::string_view text) {
  std::string out = "> ";
  while (!text.empty()) {
    const std::size_t end = line_end(text);
    if (end == 0) {
      out += text.front();
      text.remove_prefix(1);
    } else {
      out += "\n> ";
      text.remove_prefix(end);
    }
  }
  return out + "\n";
}

std::string quoted_record(std::string_view what, std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::string out(what);
  out += ' ';
  out += kQuotationWarning;
  return out + as_quotation(text);
}

std::string with_notice(std::string_view object) {
  std::string out = R"({"notice":)";
  append_json_string(out, kValuesWarning);
  const std::string_view members = trim_json(trim_json(object).substr(1));
  if (!members.starts_with('}')) out += ',';
  return out.append(members);
}

std::string quoted_name(std::string_view text, std::size_t max_bytes) {
  std::string line;
  while (!text.empty()) {
    const std::size_t end = line_end(text);
    line += end == 0 ? text.front() : ' ';
    text.remove_prefix(std::max<std::size_t>(end, 1));
  }
  return quote(line, max_bytes);
}

}  // namespace skein
