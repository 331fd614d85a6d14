// Made-up conversations in words that are as frequent as those of a language, and made-up vectors.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "skein/embedder.h"
#include "skein/store.h"

namespace skein::bench {

class MadeUpText {
 public:
  explicit MadeUpText(std::uint64_t seed) : random_(seed) {}

  // Some 25 words of 50,000; the n-th most frequent one comes 1/n as often as the first.
  std::string message();
  // Words that are neither the most frequent nor the rarest.
  std::string question();

 private:
  std::string word(double from, double to);
  std::mt19937_64 random_;
};

// Threads of one agent with so many messages each.
Result<void> make_conversations(Store& store, const std::string& agent, std::size_t threads,
                                std::size_t messages);

// Random directions, as quick as can be; questions go to a real model, if one is given, so that its
// time counts.
class MadeUpEmbedder final : public Embedder {
 public:
  explicit MadeUpEmbedder(Embedder* for_questions = nullptr) : for_questions_(for_questions) {}

  const std::string& model() const override { return name_; }
  std::size_t dimensions() const override { return 384; }
  Result<std::vector<Vector>> embed(std::span<const std::string> texts, EmbedKind kind) override;
  std::chrono::nanoseconds model_time() const override { return {}; }

 private:
  const std::string name_ = "made-up/384";
  Embedder* const for_questions_;
};

}  // namespace skein::bench
