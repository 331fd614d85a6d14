#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/dialogue.h"
#include "cli/table.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

constexpr std::size_t kMaxInputBytes = std::size_t{64} << 20;

// Enough to tell which one it is.
std::string beginning_of(std::string_view secret) {
  constexpr std::size_t kShownBytes = 12;
  if (secret.size() <= kShownBytes) return mended_utf8(secret);
  return mended_utf8(secret.substr(0, kShownBytes)) + "…";
}

class Redact : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "redact",
        .summary = "take credentials out of standard input, or show what would go",
        .examples =
            "  skein redact < session.log > session.txt\n"
            "  skein redact --test < session.log\n"
            "  skein redact --rules\n",
        .details =
            "`skein import` applies the same rules. The configuration adds rules, and takes "
            "built-in ones away:\n"
            "  {\"redact\": {\"host\": \"\\\\bhost-[0-9]{4}\\\\b\", \"pin\": \"PIN: ([0-9]+)\", "
            "\"jwt\": false}}\n"
            "A pattern is a regular expression of RE2; if it has a group, the first one is what "
            "goes."};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "--test",
             .help = "print what would go, and by which rule, instead",
             .set = into(test_)},
            {.names = "--rules", .help = "print the rules instead", .set = into(rules_)}};
  }

  Outcome run(Context& context) override {
    if (test_ && rules_) return wrong_usage("--test and --rules exclude each other");
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    const auto redactor = settled_redactor(settings);
    if (!redactor) return wrong_usage(redactor.error().message);
    if (rules_) return print_rules(context, *redactor);
    if (::isatty(STDIN_FILENO) == 1) print_notice("reading the text; end it with Ctrl-D");
    SKEIN_ASSIGN(std::string text, read_standard_input(kMaxInputBytes));
    if (text.size() > kMaxInputBytes) {
      return tl::unexpected<Failure>(Error{
          ErrorCode::kInvalid,
          fmt::format("standard input is longer than the limit of {} bytes", kMaxInputBytes)});
    }
    return test_ ? print_found(context, *redactor, text) : print_rest(context, *redactor, text);
  }

 private:
  static Outcome print_rules(Context& context, const Redactor& redactor) {
    Table table(context, {"RULE", "FROM", "WHAT"});
    for (const Redactor::About& rule : redactor.rules()) {
      table.add({rule.name, rule.built_in ? "built in" : "configuration", rule.what},
                JsonObject()
                    .add("rule", rule.name)
                    .add("builtIn", rule.built_in)
                    .add("what", rule.what)
                    .str());
    }
    table.print();
    return kExitDone;
  }

  static Outcome print_found(Context& context, const Redactor& redactor, const std::string& text) {
    Table table(context, {"LINE", "COLUMN", "RULE", "BYTES", "TEXT"});
    const auto found = redactor.find(text);
    std::size_t line = 1;
    std::size_t line_begin = 0;
    std::size_t at = 0;
    for (const Redaction& redaction : found) {
      for (; at < redaction.begin; ++at) {
        if (text[at] != '\n') continue;
        ++line;
        line_begin = at + 1;
      }
      const std::size_t column = redaction.begin - line_begin + 1;
      const std::string shown =
          beginning_of(std::string_view(text).substr(redaction.begin, redaction.length));
      table.add({std::to_string(line), std::to_string(column), redaction.rule,
                 std::to_string(redaction.length), shown},
                JsonObject()
                    .add("line", std::uint64_t{line})
                    .add("column", std::uint64_t{column})
                    .add("rule", redaction.rule)
                    .add("bytes", std::uint64_t{redaction.length})
                    .add("text", shown)
                    .str());
    }
    table.print();
    return kExitDone;
  }

  static Outcome print_rest(Context& context, const Redactor& redactor, std::string& text) {
    const std::size_t count = redactor.redact_text(text);
    if (context.json()) {
      context.out().write(
          JsonObject().add("redacted", std::uint64_t{count}).add("text", mended_utf8(text)).str() +
          "\n");
    } else {
      context.out().write_stored(text);
    }
    return kExitDone;
  }

  bool test_ = false;
  bool rules_ = false;
};

}  // namespace

std::unique_ptr<Command> redact_command() { return std::make_unique<Redact>(); }

}  // namespace skein
