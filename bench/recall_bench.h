// How well recall finds what answers a question, measured on conversations with known answers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/report.h"
#include "skein/embedder.h"
#include "skein/error.h"

namespace skein::bench {

// Means over questions, 0 to 100.
struct Quality {
  double recall_5 = 0;   // share of the messages (or threads) with evidence among the first 5
  double recall_10 = 0;  // and the first 10
  double ndcg_10 = 0;    // how far in front they are
  std::size_t questions = 0;
};

struct QualityBy {
  Quality message;
  Quality thread;
};

// Of one way to search.
struct QualityReport {
  std::string mode;  // "lexical", "dense", "full"
  QualityBy all;     // without the questions that are reported apart
  std::map<std::string, QualityBy> categories;
};

struct RecallBenchOptions {
  // Holds conversations.jsonl and questions.jsonl; or the folders in it do.
  std::string data;
  // Keeps store and index between runs, so that a second run embeds nothing; empty: in memory.
  std::string folder;
  Embedder* embedder = nullptr;  // borrowed; none: only what works without
  Progress progress;
};

// Puts each conversation into a store as an agent's, each of its sessions a thread, indexes them,
// and asks every question within its conversation: all by the public API.
Result<std::vector<QualityReport>> run_recall_bench(const RecallBenchOptions& options);

std::string to_table(const std::vector<QualityReport>& reports);
// {"full":{"message":{"R@5":…,"R@10":…,"nDCG@10":…},"thread":{…},"categories":{…}},"lexical":…}
std::string to_json(const std::vector<QualityReport>& reports);

}  // namespace skein::bench
