// What other programs write down of conversations, in the form in which an import takes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/transfer/line_file.h"
#include "skein/event.h"
#include "skein/json.h"

namespace skein {

// One conversation, as far as its file tells.
struct TranscriptThread {
  // The same whenever it is read, and of no other conversation: "claude-code/<session>" …
  std::string identity;
  std::string usual_agent;                // empty: the default one
  std::optional<std::string> alias;       // a UUID that its program calls it by
  std::optional<std::string> session_id;  // what its program resumes it by
  std::optional<std::string> title;
  Timestamp created_at;
  Json metadata;
  // Keys of events are their places alone: what is there under a key may be something else.
  bool keys_are_places = false;
};

// What an event continues from.
enum class Continues {
  kPrevious,  // the event of the same conversation that came before it in the file
  kNamed,     // the one with the key `after`
  kNothing,
};

struct TranscriptEvent {
  std::size_t thread = 0;  // of Transcript::threads()
  Event event;             // with its key and time; without base
  Continues continues = Continues::kPrevious;
  std::string after{};
  bool is_summary = false;  // of all that it continues from
  std::uint64_t line = 0;
};

// Who is told what was left out of a file.
struct TranscriptListener {
  std::function<void(FileProblem)> problem;
  std::function<void(const std::string& kind)> ignored;  // once for each entry or part of one
};

// A file that has been looked through once, so that it is known what is in it. Not thread-safe.
class Transcript {
 public:
  using Sink = std::function<Result<void>(TranscriptEvent)>;

  virtual ~Transcript() = default;
  virtual const std::vector<TranscriptThread>& threads() const = 0;
  // Delivers all events in the order of the file, until the sink fails.
  virtual Result<void> read(const Sink& sink) = 0;
};

using OpenedTranscript = Result<std::unique_ptr<Transcript>>;

// A session of Claude Code (~/.claude/projects/**.jsonl). Threads are the session itself and each
// sidechain in the file; a file of a subagent has only that one.
OpenedTranscript open_claude_transcript(const std::filesystem::path& path,
                                        const TranscriptListener& listener);

// A session of Codex (~/.codex/sessions/**/rollout-*.jsonl), also of its first forms.
OpenedTranscript open_codex_rollout(const std::filesystem::path& path,
                                    const TranscriptListener& listener);

// Messages as OpenAI, LangChain and LangGraph write them: a JSON array, an object that holds one,
// or such an object a line.
OpenedTranscript open_message_lists(const std::filesystem::path& path,
                                    const TranscriptListener& listener);

// The thread that a conversation is imported as.
ThreadId transcript_thread_id(std::string_view identity);

}  // namespace skein
