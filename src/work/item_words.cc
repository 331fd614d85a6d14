#include "work/item_words.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

namespace skein {
namespace {

using WordSet = std::unordered_set<std::string_view>;

const WordSet kStopWords = {
    // Articles, pronouns, prepositions, conjunctions.
    "a", "an", "the", "this", "that", "these", "those", "my", "our", "your", "their", "its", "it",
    "we", "i", "you", "they", "he", "she", "us", "them", "of", "in", "on", "at", "to", "for",
    "from", "by", "with", "as", "into", "onto", "about", "via", "per", "during", "and", "or", "but",
    "so", "then", "than", "if", "when", "while", "where", "which", "who", "what", "how", "because",
    "since", "there", "here", "s",
    // Auxiliary verbs.
    "is", "are", "was", "were", "be", "been", "being", "am", "do", "does", "did", "has", "have",
    "had", "can", "could", "should", "would", "will", "shall", "may", "might", "must", "need",
    "needs", "needed", "want", "wants", "ought", "let",
    // What every open item implies.
    "please", "just", "also", "still", "yet", "currently", "now", "again", "todo", "tbd", "wip",
    "pending", "outstanding", "remains", "reminder",
    // German, French and Spanish articles and prepositions that are no English words.
    "der", "das", "den", "dem", "ein", "eine", "einen", "im", "bei", "und", "le", "la", "les", "un",
    "une", "du", "des", "de", "dans", "et", "el", "los", "las", "una", "del", "al", "y"};

const WordSet kRoleMarkers = {"from", "to",     "into",  "onto", "with", "by",
                              "over", "before", "after", "via",  "than", "against"};

constexpr std::string_view kWeakWords =
    "new existing current proper properly whole entire all some any every each various several "
    "remaining missing version support feature bug really finally die";

const WordSet kNegations = {"not", "no", "never", "without", "cannot", "non"};

using Aliases = std::unordered_map<std::string_view, std::string_view>;

const Aliases kAbbreviations = {
    {"auth", "authentication"},
    {"authn", "authentication"},
    {"authz", "authorization"},
    {"config", "configuration"},
    {"configs", "configuration"},
    {"cfg", "configuration"},
    {"conf", "configuration"},
    {"db", "database"},
    {"dbs", "database"},
    {"doc", "documentation"},
    {"docs", "documentation"},
    {"env", "environment"},
    {"envs", "environment"},
    {"repo", "repository"},
    {"repos", "repository"},
    {"prod", "production"},
    {"dev", "development"},
    {"stg", "staging"},
    {"stage", "staging"},
    {"admin", "administrator"},
    {"app", "application"},
    {"apps", "application"},
    {"perf", "performance"},
    {"dep", "dependency"},
    {"deps", "dependency"},
    {"lib", "library"},
    {"libs", "library"},
    {"impl", "implementation"},
    {"param", "parameter"},
    {"params", "parameter"},
    {"arg", "argument"},
    {"args", "argument"},
    {"func", "function"},
    {"fn", "function"},
    {"msg", "message"},
    {"msgs", "message"},
    {"btn", "button"},
    {"img", "image"},
    {"pkg", "package"},
    {"dir", "directory"},
    {"dirs", "directory"},
    {"info", "information"},
    {"err", "error"},
    {"req", "request"},
    {"resp", "response"},
    {"pg", "postgresql"},
    {"postgres", "postgresql"},
    {"k8s", "kubernetes"},
    {"js", "javascript"},
    {"ts", "typescript"},
    {"py", "python"},
    {"i18n", "internationalization"},
    {"l10n", "localization"},
    {"a11y", "accessibility"},
    {"perms", "permission"},
    {"creds", "credential"},
    {"var", "variable"},
    {"vars", "variable"},
    {"tmp", "temporary"},
    {"temp", "temporary"},
    {"spec", "specification"},
    {"specs", "specification"},
    {"async", "asynchronous"},
    {"pwd", "password"},
    {"infra", "infrastructure"},
    {"max", "maximum"},
    {"min", "minimum"},
    {"prs", "pr"},
    {"one", "1"},
    {"two", "2"},
    {"three", "3"},
    {"four", "4"},
    {"five", "5"},
    {"six", "6"},
    {"seven", "7"},
    {"eight", "8"},
    {"nine", "9"},
    {"ten", "10"},
};

// Forms that no ending explains.
const Aliases kIrregular = {
    {"broken", "break"},       {"broke", "break"},     {"failure", "fail"},
    {"failures", "fail"},      {"wrote", "write"},     {"written", "write"},
    {"built", "build"},        {"sent", "send"},       {"indices", "index"},
    {"flakey", "flaky"},       {"analyse", "analyze"}, {"analysis", "analyze"},
    {"removal", "remove"},     {"removals", "remove"}, {"colour", "color"},
    {"behaviour", "behavior"}, {"children", "child"},  {"people", "person"},
    {"cannot", "not"},
};

// Words that people use for the same deed or thing; the first stands for all.
constexpr std::array kInterchangeable = {
    "fix repair resolve solve correct",
    "remove delete drop",
    "add create write introduce implement",
    "update bump upgrade",
    "check verify confirm",
    "improve enhance",
    "investigate examine analyze",
    "bug issue problem defect",
};

constexpr std::array kAlternatives = {
    "enable disable",
    "add remove",
    "start stop",
    "start finish",
    "begin end",
    "open close",
    "lock unlock",
    "allow deny forbid block",
    "accept reject",
    "approve reject",
    "show hide",
    "increase decrease reduce",
    "raise lower",
    "up down",
    "on off",
    "in out",
    "before after",
    "import export",
    "encode decode",
    "encrypt decrypt",
    "compress decompress",
    "upload download",
    "push pull",
    "read write",
    "get set",
    "send receive",
    "client server",
    "frontend backend",
    "input output",
    "source target",
    "request response",
    "first last",
    "minimum maximum",
    "left right",
    "top bottom",
    "old new",
    "internal external",
    "public private",
    "sync async",
    "install uninstall",
    "subscribe unsubscribe",
    "login logout",
    "signup signin",
    "pause resume",
    "freeze unfreeze",
    "merge split",
    "expand collapse",
    "connect disconnect",
    "success fail",
    "true false",
    "always never",
    "light dark",
    "online offline",
    "static dynamic",
    "staging production development",
    "ios android windows linux macos web desktop mobile",
    "chrome firefox safari edge",
    "postgresql mysql sqlite",
    "english german french spanish",
    "monday tuesday wednesday thursday friday saturday sunday",
    "january february march april june july august september october november december",
    "daily weekly monthly yearly",
    "parser lexer",
    "reader writer",
    "sender receiver",
    "producer consumer",
    "master slave",
    "primary replica secondary",
    // Steps of one piece of work.
    "add fix investigate test document deploy release review design announce refactor migrate "
    "backport "
    "benchmark rename revert",
};

struct Ending {
  std::string_view ending;
  std::string_view instead;
  std::size_t keep;  // letters that must stay before it
};

// The first that fits is taken off; then the second list applies.
constexpr Ending kInflections[] = {
    {"ies", "y", 2},   {"ied", "y", 2}, {"sses", "ss", 1}, {"xes", "x", 1},   {"ches", "ch", 1},
    {"shes", "sh", 1}, {"ings", "", 3}, {"ing", "", 3},    {"eed", "eed", 0}, {"ed", "", 3},
    {"ss", "ss", 0},   {"us", "us", 0}, {"is", "is", 0},   {"s", "", 2},
};
constexpr Ending kDerivations[] = {
    {"ization", "iz", 2}, {"isation", "iz", 2}, {"ation", "", 4}, {"ition", "", 4},
    {"ion", "", 4},       {"ment", "", 4},      {"ise", "iz", 3}, {"is", "iz", 4},
    {"ate", "", 4},       {"at", "", 4},        {"e", "", 2},
};

template <std::size_t N>
void take_ending(std::string& word, const Ending (&endings)[N]) {
  for (const Ending& rule : endings) {
    if (!word.ends_with(rule.ending) || word.size() < rule.ending.size() + rule.keep) continue;
    word.resize(word.size() - rule.ending.size());
    word += rule.instead;
    return;
  }
}

bool is_plain_word(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

void take_endings(std::string& word) {
  take_ending(word, kInflections);
  take_ending(word, kDerivations);
  take_ending(word, kDerivations);
  const std::size_t size = word.size();
  if (size > 3 && word[size - 1] == word[size - 2]) word.pop_back();  // logging, log
}

template <typename Each>
void for_each_word(std::string_view words, const Each& each) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    each(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

// What stands for a stem, where another does.
const std::unordered_map<std::string, std::string>& stand_ins() {
  static const auto made = [] {
    std::unordered_map<std::string, std::string> all;
    for (const std::string_view group : kInterchangeable) {
      std::string first;
      for_each_word(group, [&](std::string_view word) {
        std::string stem(word);
        take_endings(stem);
        if (first.empty()) first = stem;
        all.emplace(std::move(stem), first);
      });
    }
    return all;
  }();
  return made;
}

const std::unordered_map<std::string, std::vector<int>>& groups_by_stem() {
  static const auto made = [] {
    std::unordered_map<std::string, std::vector<int>> all;
    for (std::size_t i = 0; i < kAlternatives.size(); ++i) {
      for_each_word(kAlternatives[i], [&](std::string_view word) {
        all[stem_of(word)].push_back(static_cast<int>(i));
      });
    }
    return all;
  }();
  return made;
}

}  // namespace

std::vector<PhraseAlias> phrase_aliases() {
  return {{"pull request", "pr"},    {"pull requests", "pr"},
          {"end to end", "e2e"},     {"sign in", "login"},
          {"signin", "login"},       {"log in", "login"},
          {"sign up", "signup"},     {"log out", "logout"},
          {"sign out", "logout"},    {"look into", "investigate"},
          {"get rid of", "remove"},  {"no longer", "not"},
          {"user interface", "ui"},  {"still open", ""},
          {"to be done", ""},        {"not done", ""},
          {"not yet done", ""},      {"remember to", ""},
          {"do not forget to", ""},  {"noch offen", ""},
          {"signing in", "login"},   {"logging in", "login"},
          {"signing out", "logout"}, {"make sure", "ensure"},
          {"clean up", "cleanup"},   {"set up", "setup"}};
}

bool is_stop_word(std::string_view word) { return kStopWords.contains(word); }
bool is_weak_word(std::string_view stem) {
  static const auto stems = [] {
    std::unordered_set<std::string> all;
    for_each_word(kWeakWords, [&](std::string_view word) { all.insert(stem_of(word)); });
    return all;
  }();
  return stems.contains(std::string(stem));
}
bool is_negation(std::string_view stem) { return kNegations.contains(stem); }
bool is_role_marker(std::string_view word) { return kRoleMarkers.contains(word); }

std::string stem_of(std::string_view word) {
  for (const Aliases* aliases : {&kAbbreviations, &kIrregular}) {
    if (const auto found = aliases->find(word); found != aliases->end()) word = found->second;
  }
  std::string stem(word);
  if (!is_plain_word(stem)) return stem;
  take_endings(stem);
  const auto same = stand_ins().find(stem);
  return same == stand_ins().end() ? stem : same->second;
}

std::vector<int> alternative_groups(std::string_view stem) {
  const auto found = groups_by_stem().find(std::string(stem));
  return found == groups_by_stem().end() ? std::vector<int>{} : found->second;
}

}  // namespace skein
