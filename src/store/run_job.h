// A piece of writing, from its making to its answer.
#pragma once

#include <utility>

#include "core/try.h"
#include "skein/error.h"

namespace skein {

// Makes a `Job` of the arguments, has the writer run it, and returns its `answer`; what broke the
// storage comes first.
template <class Job, class Writer, class... Arguments>
auto run_job(Writer& writer, const Arguments&... arguments) {
  Job job(arguments...);
  using Answer = decltype(job.answer);
  const auto done = writer.run(job);
  return done ? std::move(job.answer) : Answer(tl::unexpected(done.error()));
}

}  // namespace skein
