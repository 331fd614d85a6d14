// A model that is quick and predictable: texts are alike as far as they have words in common.
#pragma once

#include <atomic>
#include <cmath>
#include <functional>
#include <string>

#include "core/checksum.h"
#include "core/text.h"
#include "skein/embedder.h"

namespace skein::test {

class WordEmbedder final : public Embedder {
 public:
  explicit WordEmbedder(std::string name = "words/1/64") : name_(std::move(name)) {}

  const std::string& model() const override { return name_; }
  std::size_t dimensions() const override { return kDimensions; }
  std::chrono::nanoseconds model_time() const override { return {}; }

  Result<std::vector<Vector>> embed(std::span<const std::string> texts, EmbedKind) override {
    if (before_each) before_each();
    if (failing_) return fail(ErrorCode::kIo, "the model is out of order");
    std::vector<Vector> vectors;
    for (const std::string& text : texts) {
      Vector vector(kDimensions, 0.01F);
      for (const std::string& word : words_of(fold_text(text))) {
        vector[checksum(word) % kDimensions] += 1;
      }
      float length = 0;
      for (const float value : vector) length += value * value;
      for (float& value : vector) value /= std::sqrt(length);
      vectors.push_back(std::move(vector));
    }
    texts_ += texts.size();
    return vectors;
  }

  std::size_t texts() const { return texts_; }  // embedded so far
  void fail_from_now_on(bool failing) { failing_ = failing; }
  std::function<void()> before_each;  // call; set before the first

 private:
  static constexpr std::size_t kDimensions = 64;
  const std::string name_;
  std::atomic<std::size_t> texts_ = 0;
  std::atomic<bool> failing_ = false;
};

}  // namespace skein::test
