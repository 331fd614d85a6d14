// The models that are known, and where their files lie.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skein/embedder.h"

namespace skein {

enum class Pooling { kFirst, kMean };  // the first word piece's vector, or the mean of all

struct KnownModel {
  std::string_view name;    // of its folder, too
  std::string_view choice;  // what a user calls it
  std::string_view weights_sha256;
  std::string_view tokenizer_sha256;
  std::string_view cached;        // its folder, within the cache
  std::string_view query_prefix;  // before questions alone
  std::size_t dimensions;
  std::size_t max_tokens;
  Pooling pooling;
};

// The best first.
std::span<const KnownModel> known_models();
const KnownModel* find_model(std::string_view name);

struct ModelFiles {
  std::string weights;
  std::string tokenizer;
};

// kNotFound names the file that is missing, and how to get it.
Result<ModelFiles> find_model_files(const KnownModel& model, const LocalEmbedderOptions& options);

// Paths and names to try, the first one that works counts. kNotFound if there can be none.
Result<std::vector<std::string>> find_runtimes(const LocalEmbedderOptions& options);

// The contents of a file that has to have this checksum. kDamaged names both, kNotFound the file.
Result<std::string> read_verified(const std::string& path, std::string_view sha256);

}  // namespace skein
