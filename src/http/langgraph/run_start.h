// A run that a client asks for, from its body to the runner.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/langgraph/shared.h"

namespace skein::http {

struct StartedRun {
  Run run;
  std::string thread_id;  // as clients know it
  bool temporary = false;
  bool keeps = false;  // of one without a thread: that stays after the run
  bool cancel_on_disconnect = false;
  bool resumes = false;              // it had asked a question, and goes on
  std::vector<std::string> modes{};  // that this request named; else they are the run's
};

// `thread_id` absent: a new thread, which goes with the run.
tl::expected<StartedRun, Problem> start_run(LangGraph& graph, const Request& request,
                                            const std::optional<std::string>& thread_id,
                                            std::string_view body);
// The same, and returns when the run has ended, whatever became of it. For a route
// with a thread of its own.
tl::expected<StartedRun, Problem> finish_run(LangGraph& graph, const Request& request,
                                             const std::optional<std::string>& thread_id,
                                             std::string_view body);

// What the record of a run keeps of a body for its clients: config, context, how it is streamed.
tl::expected<Json, Problem> run_kwargs(const JsonFields& body);
// The stream modes that a run was started with.
std::vector<std::string> modes_of(const Run& run);

extern const char* const kRunBody;

}  // namespace skein::http
