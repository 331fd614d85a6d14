// The completion scripts, asked by the shells that they are for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace skein::test {
namespace {

using testing::HasSubstr;

// A shell, and what defines `ask WORDS…` in it: prints what the last word can become.
struct Shell {
  const char* name;
  const char* start;
  const char* ask;
};

const Shell kShells[] = {
    {"bash", "bash --norc", R"(source ./script
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _skein; echo "${COMPREPLY[@]}"; }
)"},
    // What zsh itself offers only while a person types is imitated.
    {"zsh", "zsh -f", R"(compdef() { : }
source ./script
fitting() { local each; for each; do [[ $each == ${words[CURRENT]}* ]] && found+=(${each%%:*}); done }
_describe() { fitting $choices }
compadd() { fitting "$@" }
_files() { found+=(${words[CURRENT]}*(N)) }
ask() { found=(); words=("$@"); CURRENT=$#; _skein; print -r -- $found }
)"},
    {"fish", "fish --no-config", R"(source ./script
function ask; echo (complete -C "$argv" | string replace -r '\t.*' ''); end
)"},
};

class Completion : public testing::TestWithParam<Shell> {
 protected:
  // What the shell says to the questions, after it has read the script.
  Ran ask(const std::string& questions) const {
    const Ran script = workspace_.run({"completion", GetParam().name});
    EXPECT_EQ(script.code, 0) << script;
    workspace_.write("script", script.out);
    workspace_.write("questions", GetParam().ask + questions);
    return workspace_.shell("HOME=\"$PWD\" exec " + std::string(GetParam().start) + " questions");
  }

  Workspace workspace_;
};

INSTANTIATE_TEST_SUITE_P(Shells, Completion, testing::ValuesIn(kShells),
                         [](const auto& shell) { return std::string(shell.param.name); });

TEST_P(Completion, KnowsCommandsOptionsAndValues) {
  workspace_.write("transcript.jsonl", "");
  const Ran said = ask(R"(
ask skein th
ask skein thread ap
ask skein thread append a1b2c3d4e5f6 --ro
ask skein thread append a1b2c3d4e5f6 --role as
ask skein --json thread list --order o
ask skein import trans
ask skein completion f
)");
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(said.out, "thread\nappend\n--role\nassistant\noldest\ntranscript.jsonl\nfish\n");
}

TEST_P(Completion, OffersNothingWhereNothingFits) {
  const Ran said = ask("ask skein zzz\nask skein thread append --role zzz\n");
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(said.out, "\n\n");
}

TEST_P(Completion, KnowsEveryCommandAndOption) {
  const Ran script = workspace_.run({"completion", GetParam().name});
  for (const char* word : {"create", "append", "events", "import", "doctor", "expect-seq",
                           "no-redact", "workspace", "demo"}) {
    EXPECT_THAT(script.out, HasSubstr(word));
  }
}

}  // namespace
}  // namespace skein::test
