// Scripts that teach a shell to complete our command lines, made from the commands' own words.
//
// All three work alike: the words so far lead to a place in the tree of commands
// ("/thread/append"), and the place says what may follow.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "cli/context.h"
#include "core/quote.h"

namespace skein {
namespace {

struct Word {
  std::string text;
  std::string help;
};

struct Place {
  std::string path;
  std::vector<Word> commands;
  std::vector<Argument> arguments;
};

// Before those that every command has.
void add_arguments(Place& place, Command& command) {
  std::vector<Argument> own = command.arguments();
  std::erase_if(own, [](const Argument& argument) { return argument.hidden; });
  place.arguments.insert(place.arguments.begin(), own.begin(), own.end());
}

std::vector<Place> places_of(const CommandTree& tree) {
  std::vector<Place> places(1);
  places[0].arguments = tree.global;
  for (const CommandGroup& group : tree.groups) {
    std::size_t parent = 0;
    if (!group.name.empty()) {
      places[0].commands.push_back({group.name, group.summary});
      parent = places.size();
      places.push_back({"/" + group.name, {}, tree.global});
      if (group.alone) add_arguments(places.back(), *group.alone);
    }
    for (const auto& command : group.commands) {
      const CommandInfo info = command->info();
      places[parent].commands.push_back({info.name, info.summary});
      Place place{places[parent].path + "/" + info.name, {}, tree.global};
      add_arguments(place, *command);
      places.push_back(std::move(place));
    }
  }
  return places;
}

// "--yes" and "-y" of "-y,--yes"; nothing for what is given by its place.
std::vector<std::string> option_names(const Argument& argument) {
  std::vector<std::string> names;
  if (argument.is_positional()) return names;
  for (std::size_t begin = 0; begin <= argument.names.size();) {
    const std::size_t end = std::min(argument.names.find(',', begin), argument.names.size());
    names.push_back(argument.names.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

// Everything that may follow at a place, with its help.
std::vector<Word> words_at(const Place& place) {
  std::vector<Word> words = place.commands;
  for (const Argument& argument : place.arguments) {
    for (const std::string& name : option_names(argument)) words.push_back({name, argument.help});
    if (argument.is_positional()) {
      for (const std::string& choice : argument.choices) words.push_back({choice, argument.help});
    }
  }
  words.push_back({"--help", "print help and end"});
  return words;
}

bool takes_files(const Place& place) {
  return std::any_of(place.arguments.begin(), place.arguments.end(), [](const Argument& argument) {
    return argument.is_positional() && argument.is_path;
  });
}

std::string joined_words(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// The patterns of a case that follows the words to their place.
std::string known_paths(const std::vector<Place>& places) {
  std::string out;
  for (const Place& place : places) {
    if (!place.path.empty()) out += (out.empty() ? "" : "|") + place.path;
  }
  return out;
}

// A case arm for each option that takes a value; `choices` and `files` make its body.
template <class Choices>
std::string value_arms(const std::vector<Place>& places, Choices choices, std::string_view files) {
  std::string out;
  for (const Place& place : places) {
    for (const Argument& argument : place.arguments) {
      if (argument.is_flag()) continue;
      std::string body = argument.is_path ? std::string(files) : ":";
      if (!argument.choices.empty()) body = choices(joined_words(argument.choices));
      for (const std::string& name : option_names(argument)) {
        out += fmt::format("    '{} {}') {}; return ;;\n", place.path, name, body);
      }
    }
  }
  return out;
}

std::string bash_script(const std::vector<Place>& places) {
  std::string out = fmt::format(
      R"sh(# bash completion for skein: eval "$(skein completion bash)"
_skein() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} at='' word
  COMPREPLY=()
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$at/$word" in {}) at="$at/$word" ;; esac
  done
  case "$at $prev" in
)sh",
      known_paths(places));
  out += value_arms(
      places,
      [](const std::string& words) {
        return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", words);
      },
      "COMPREPLY=($(compgen -f -- \"$cur\"))");
  out += "  esac\n  case \"$at\" in\n";
  for (const Place& place : places) {
    std::vector<std::string> words;
    for (const Word& word : words_at(place)) words.push_back(word.text);
    out += fmt::format("    '{}') COMPREPLY=($(compgen -W '{}'{} -- \"$cur\")) ;;\n", place.path,
                       joined_words(words), takes_files(place) ? " -f" : "");
  }
  out += "  esac\n}\ncomplete -o filenames -F _skein skein\n";
  return out;
}

std::string zsh_script(const std::vector<Place>& places) {
  std::string out = fmt::format(
      R"sh(#compdef skein
# zsh completion for skein: eval "$(skein completion zsh)", or save it as _skein in a folder of $fpath
_skein() {{
  local at='' word prev=${{words[CURRENT-1]}}
  local -a choices
  for word in ${{words[2,CURRENT-1]}}; do
    case "$at/$word" in ({}) at="$at/$word" ;; esac
  done
  case "$at $prev" in
)sh",
      known_paths(places));
  out += value_arms(places, [](const std::string& words) { return "compadd " + words; }, "_files");
  out += "  esac\n  case \"$at\" in\n";
  for (const Place& place : places) {
    out += fmt::format("    '{}') choices=(", place.path);
    for (const Word& word : words_at(place)) out += shell_quoted(word.text + ":" + word.help) + " ";
    out += fmt::format("){} ;;\n", takes_files(place) ? "; _files" : "");
  }
  out +=
      "  esac\n  _describe 'skein' choices\n}\n"
      "if [ \"$funcstack[1]\" = _skein ]; then _skein \"$@\"; else compdef _skein skein; fi\n";
  return out;
}

std::string fish_script(const std::vector<Place>& places) {
  std::string paths = known_paths(places);
  std::replace(paths.begin(), paths.end(), '|', ' ');
  std::string out = fmt::format(
      R"sh(# fish completion for skein: skein completion fish | source
function __skein_at
  set -l at ''
  for word in (commandline -opc)[2..]
    contains -- "$at/$word" {} && set at "$at/$word"
  end
  echo -- $at
end
complete -c skein -f
)sh",
      paths);
  for (const Place& place : places) {
    const std::string when =
        fmt::format("complete -c skein -n 'test (__skein_at) = \"{}\"'", place.path);
    for (const Word& word : place.commands) {
      out += fmt::format("{} -a {} -d {}\n", when, word.text, shell_quoted(word.help));
    }
    if (takes_files(place)) out += when + " -F\n";
    for (const Argument& argument : place.arguments) {
      std::string value = argument.is_flag() ? "" : argument.is_path ? " -r -F" : " -x";
      if (!argument.choices.empty()) value += " -a " + shell_quoted(joined_words(argument.choices));
      if (argument.is_positional() && !argument.choices.empty())
        out += when + value.substr(3) + "\n";
      for (const std::string& name : option_names(argument)) {
        const std::string kind =
            name.starts_with("--") ? "-l " + name.substr(2) : "-s " + name.substr(1);
        out += fmt::format("{} {}{} -d {}\n", when, kind, value, shell_quoted(argument.help));
      }
    }
  }
  return out;
}

class Completion : public Command {
 public:
  explicit Completion(const CommandTree& tree) : tree_(tree) {}

  CommandInfo info() const override {
    return {.name = "completion",
            .summary = "print a script that lets a shell complete skein's commands",
            .examples =
                "  eval \"$(skein completion bash)\"    in ~/.bashrc\n"
                "  eval \"$(skein completion zsh)\"     in ~/.zshrc, after compinit\n"
                "  skein completion fish | source     in ~/.config/fish/config.fish\n"};
  }

  std::vector<Argument> arguments() override {
    return {with_choices<Script>(
        {.names = "SHELL", .value_name = "SHELL", .help = "bash, zsh or fish", .required = true},
        {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}}, script_)};
  }

  Outcome run(Context& context) override {
    context.out().write((*script_)(places_of(tree_)));
    return kExitDone;
  }

 private:
  using Script = std::string (*)(const std::vector<Place>&);

  const CommandTree& tree_;
  std::optional<Script> script_;
};

}  // namespace

CommandGroup completion_commands(const CommandTree& tree) {
  CommandGroup group;
  group.commands.push_back(std::make_unique<Completion>(tree));
  return group;
}

}  // namespace skein
