#include "bench/search_workload.h"

#include <cmath>

#include "core/checksum.h"
#include "core/try.h"

namespace skein::bench {
namespace {

constexpr double kWords = 50'000;

// A word of its own for each number.
std::string spelled(std::uint64_t number) {
  constexpr std::string_view kConsonants = "bdfgklmnprstvz";
  constexpr std::string_view kVowels = "aeiou";
  std::string word;
  do {
    word += kConsonants[number % kConsonants.size()];
    number /= kConsonants.size();
    word += kVowels[number % kVowels.size()];
    number /= kVowels.size();
  } while (number > 0);
  return word + "x";
}

}  // namespace

std::string MadeUpText::word(double from, double to) {
  std::uniform_real_distribution<double> place(std::log(from), std::log(to));
  return spelled(static_cast<std::uint64_t>(std::exp(place(random_))));
}

std::string MadeUpText::message() {
  std::string text;
  for (std::size_t i = 10 + random_() % 30; i > 0; --i) text += word(1, kWords) + ' ';
  return text;
}

std::string MadeUpText::question() {
  std::string text;
  for (int i = 0; i < 5; ++i) text += word(20, kWords / 10) + ' ';
  return text;
}

Result<void> make_conversations(Store& store, const std::string& agent, std::size_t threads,
                                std::size_t messages) {
  MadeUpText text(42);
  for (std::size_t i = 0; i < threads; ++i) {
    NewThread thread;
    thread.agent_id = agent;
    for (std::size_t k = 0; k < messages; ++k) {
      Event event;
      event.payload = Message{k % 2 == 0 ? Role::kUser : Role::kAssistant, text.message()};
      thread.events.push_back(std::move(event));
    }
    SKEIN_TRY(store.create(thread));
  }
  return {};
}

Result<std::vector<Vector>> MadeUpEmbedder::embed(std::span<const std::string> texts,
                                                  EmbedKind kind) {
  if (kind == EmbedKind::kQuery && for_questions_ != nullptr) {
    return for_questions_->embed(texts, kind);
  }
  std::vector<Vector> vectors;
  for (const std::string& text : texts) {
    Vector& vector = vectors.emplace_back(dimensions());
    std::uint64_t state = checksum(text) | 1;
    const float length = std::sqrt(static_cast<float>(vector.size()) / 3);
    for (float& value : vector) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      value = static_cast<float>(static_cast<std::int64_t>(state) >> 32) / 2147483648.0F / length;
    }
  }
  return vectors;
}

}  // namespace skein::bench
