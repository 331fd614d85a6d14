#include "bench/counting.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>

#include "bench/workload.h"
#include "core/try.h"
#include "skein/tokens.h"

namespace skein::bench {
namespace {

constexpr std::size_t kTextBytes = std::size_t{8} << 20;

const std::vector<std::string>& prose() {
  static const std::vector<std::string> words = {"the",         "conversation",
                                                 "was",         "interrupted",
                                                 "because",     "a",
                                                 "process",     "lost",
                                                 "its",         "lease",
                                                 "while",       "writing",
                                                 "Retries",     "happen",
                                                 "three",       "times,",
                                                 "then",        "an",
                                                 "error",       "is",
                                                 "reported.",   "We",
                                                 "decided",     "to",
                                                 "keep",        "every",
                                                 "event,",      "and",
                                                 "indexes",     "are",
                                                 "rebuilt",     "from",
                                                 "them",        "whenever",
                                                 "needed.",     "Customers",
                                                 "in",          "Denmark",
                                                 "don't",       "see",
                                                 "this,",       "although",
                                                 "PostgreSQL",  "15",
                                                 "does;",       "latency",
                                                 "rose",        "by",
                                                 "12.5%",       "unfortunately",
                                                 "thereafter",  "misconfiguration",
                                                 "throughput.", "\n"};
  return words;
}

const std::vector<std::string>& code() {
  static const std::vector<std::string> words = {"  if (",
                                                 "std::vector<",
                                                 "std::string>",
                                                 " result",
                                                 ".push_back(",
                                                 "event",
                                                 ");\n",
                                                 "    return ",
                                                 "static_cast<",
                                                 "std::uint64_t",
                                                 ">(",
                                                 "offset",
                                                 " + ",
                                                 "0x7fff",
                                                 " && ",
                                                 "!queue_.empty()",
                                                 ") {\n",
                                                 "  }\n",
                                                 "// why this is needed\n",
                                                 "const auto& ",
                                                 "kMaxBatchSize",
                                                 " = ",
                                                 "parse_header",
                                                 "[i]",
                                                 "->",
                                                 "first",
                                                 "\t\t",
                                                 "nullptr",
                                                 ";\n"};
  return words;
}

const std::vector<std::string>& han() {
  static const std::vector<std::string> words = {"我们", "决定", "重试", "三次", "然后", "报告",
                                                 "错误", "。",   "系统", "会",   "保存", "所有",
                                                 "消息", "，",   "并且", "可以", "搜索"};
  return words;
}

// So much of each as agents write: mostly prose, some code, some of it not in Latin letters.
std::string sample_text(std::mt19937_64& random) {
  std::string text;
  text.reserve(kTextBytes + 4096);
  while (text.size() < kTextBytes) {
    const std::uint64_t dice = random() % 100;
    const auto& words = dice < 60 ? prose() : dice < 90 ? code() : han();
    const std::size_t end = text.size() + 400;
    while (text.size() < end) {
      text += words[random() % words.size()];
      if (&words == &prose()) text += ' ';
      // Names that nobody has seen before.
      if (random() % 25 == 0) text += fmt::format("item_{:x}", random() % 0xFFFFFF);
    }
  }
  return text;
}

}  // namespace

Result<void> measure_counting(const BenchOptions& options, std::vector<Row>& rows) {
  options.say("counting tokens");
  std::mt19937_64 random(1);
  const std::string text = sample_text(random);
  double best = 0;
  std::size_t tokens = 0;
  for (int round = 0; round < (options.quick ? 2 : 10); ++round) {
    const Stopwatch watch;
    tokens = count_tokens(text);
    best = std::max(best, static_cast<double>(text.size()) / watch.seconds());
  }
  rows.push_back({"counting tokens, one core", megabytes_per_second(best),
                  fmt::format("{:.1f} bytes a token, best of 10",
                              static_cast<double>(text.size()) / static_cast<double>(tokens)),
                  best / 1e6, 20, false, "MB/s"});
  return {};
}

}  // namespace skein::bench
