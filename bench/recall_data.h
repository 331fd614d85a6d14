// Conversations and questions about them, as files of JSON lines.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "skein/clock.h"
#include "skein/error.h"

namespace skein::bench {

struct Utterance {
  std::string conversation;
  std::string session;
  std::string id;  // within the conversation
  std::string speaker;
  std::string text;  // with the caption of an image that was shared
  Timestamp time;    // unset: not told
};

struct RecallQuestion {
  std::string conversation;
  std::string text;
  std::set<std::string> evidence;  // ids
  std::string category;
  bool apart = false;  // not counted with the others
};

struct RecallData {
  std::vector<Utterance> utterances;  // in order
  std::vector<RecallQuestion> questions;
};

// conversations.jsonl: conv, session, dia_id, speaker, text, timestamp [, caption].
// questions.jsonl: conv, question, evidence [, evidence_fixed], category [, cat_name]. Looks into
// folders of the folder too.
Result<RecallData> read_recall_data(const std::string& folder);

}  // namespace skein::bench
