// Titles of threads: three to six words that say what a conversation is about.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "runner/quiet_call.h"
#include "skein/runner.h"

namespace skein {

// What an agent has titles made with: its own engine, reached as its runs reach it.
struct TitleMaker {
  std::shared_ptr<Engine> engine{};
  std::string model{};   // empty: titles are made from the text
  Json options{};        // the agent's: endpoint, key, program
  std::string folder{};  // where the agent works

  static TitleMaker of(const PreparedAgent& agent);
};

// Whether a thread that has none has two or more messages of a user, and something to make one of:
// a model, or enough words. `said_now` is the last of them, where it is not stored yet.
Result<bool> needs_title(Store& store, ThreadId thread, bool has_model,
                         std::optional<std::string> said_now = std::nullopt);

// By the maker's model, if there is one; from the text itself, if there is none or it fails, which
// is logged; `on_cost` is told what the model cost. Writes only the title, and only if there is
// none by then. What cannot be named yet stays without, until the next run. Stopped, it writes
// nothing and fails.
Result<void> give_title(Store& store, ThreadId thread, const TitleMaker& maker,
                        const std::function<void(std::string_view)>& log, const OnCost& on_cost,
                        const std::stop_token& stop);

// Three to six words out of what a user said, oldest first; empty when there are not enough.
std::string title_from_text(const std::vector<std::string>& user_texts);

// What a model answered as a title, without quotes and the like; empty when it is none.
std::string tidy_title(std::string_view answer);

}  // namespace skein
