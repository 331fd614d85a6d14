// Runs a fuzz target without libFuzzer, so that any compiler and any sanitizer can:
//
//   NAME_fuzz [--rounds N] [--seed S] [--write FILE] FILE_OR_FOLDER...
//
// Every input is run as it is, then N random mutations of them. The same seed gives the same
// mutations. A failing input is the one named in the last line before the crash; with --write,
// each mutation is in FILE while it runs.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

constexpr std::size_t kMaxInputBytes = 64 * 1024;

struct Options {
  std::uint64_t rounds = 0;
  std::uint64_t seed = 1;
  std::filesystem::path write;
  std::vector<std::filesystem::path> paths;
};

bool parse_number(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--rounds" || argument == "--seed") {
      std::uint64_t& value = argument == "--rounds" ? options.rounds : options.seed;
      i += 1;
      if (i == argc || !parse_number(argv[i], value)) return false;
    } else if (argument == "--write") {
      i += 1;
      if (i == argc) return false;
      options.write = argv[i];
    } else {
      options.paths.emplace_back(argument);
    }
  }
  return !options.paths.empty();
}

std::vector<std::filesystem::path> files_under(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  // Folders list their files in any order; the seed must mean the same everywhere.
  std::sort(files.begin(), files.end());
  return files;
}

class Mutator {
 public:
  Mutator(std::uint64_t seed, const std::vector<Input>& corpus) : random_(seed), corpus_(corpus) {}

  Input next() {
    Input input = corpus_[below(corpus_.size())];
    for (std::size_t steps = 1 + below(4); steps > 0; --steps) mutate(input);
    if (input.size() > kMaxInputBytes) input.resize(kMaxInputBytes);
    return input;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  static Input::difference_type offset(std::size_t position) {
    return static_cast<Input::difference_type>(position);
  }

  // A range that starts at a random position and is mostly short, as most bugs are local.
  std::pair<std::size_t, std::size_t> range(const Input& input) {
    const std::size_t begin = below(input.size());
    const std::size_t longest = below(8) == 0 ? input.size() : 16;
    return {begin, std::min(input.size(), begin + 1 + below(longest))};
  }

  void mutate(Input& input) {
    static constexpr std::string_view kTelling = "{}[]\":,\\\n\r\0\x7f\x80\xc0\xed\xff 0-9.eEnu";
    switch (input.empty() ? 2 : below(7)) {
      case 0:
        input[below(input.size())] ^= static_cast<std::uint8_t>(1U << below(8));
        break;
      case 1:
        input[below(input.size())] = static_cast<std::uint8_t>(below(256));
        break;
      case 2:
        input.insert(input.begin() + offset(below(input.size() + 1)),
                     static_cast<std::uint8_t>(kTelling[below(kTelling.size())]));
        break;
      case 3: {
        const auto [begin, end] = range(input);
        input.erase(input.begin() + offset(begin), input.begin() + offset(end));
        break;
      }
      case 4: {
        const auto [begin, end] = range(input);
        const Input copy(input.begin() + offset(begin), input.begin() + offset(end));
        input.insert(input.begin() + offset(below(input.size() + 1)), copy.begin(), copy.end());
        break;
      }
      case 5:
        input.resize(below(input.size() + 1));
        break;
      default: {
        const Input& other = corpus_[below(corpus_.size())];
        if (other.empty()) break;
        const auto [begin, end] = range(other);
        input.insert(input.begin() + offset(below(input.size() + 1)), other.begin() + offset(begin),
                     other.begin() + offset(end));
      }
    }
  }

  std::mt19937_64 random_;
  const std::vector<Input>& corpus_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse_options(argc, argv, options)) {
    std::fprintf(stderr, "usage: %s [--rounds N] [--seed S] [--write FILE] FILE_OR_FOLDER...\n",
                 argv[0]);
    return 2;
  }

  std::vector<Input> corpus;
  for (const auto& path : files_under(options.paths)) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "cannot read %s\n", path.c_str());
      return 2;
    }
    Input input{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::printf("input %s\n", path.c_str());
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(input.data(), input.size());
    corpus.push_back(std::move(input));
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "the corpus is empty\n");
    return 2;
  }

  Mutator mutator(options.seed, corpus);
  for (std::uint64_t round = 1; round <= options.rounds; ++round) {
    const Input input = mutator.next();
    std::printf("round %llu of seed %llu\n", static_cast<unsigned long long>(round),
                static_cast<unsigned long long>(options.seed));
    std::fflush(stdout);
    if (!options.write.empty()) {
      std::ofstream(options.write, std::ios::binary)
          .write(reinterpret_cast<const char*>(input.data()),
                 static_cast<std::streamsize>(input.size()));
    }
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  return 0;
}
