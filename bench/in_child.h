// Work in a process of its own, whose memory can be measured.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <type_traits>

#include "skein/error.h"

namespace skein::bench {

// Peak of the resident set of this process.
double peak_mb();

// What `work` answers, computed in a child process. Call it while this one has a single thread.
template <class Work, class Answer = typename std::invoke_result_t<Work>::value_type>
Result<Answer> in_child(Work work) {
  static_assert(std::is_trivially_copyable_v<Answer>);
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return fail(ErrorCode::kIo, "pipe");
  const pid_t child = fork();
  if (child < 0) return fail(ErrorCode::kIo, "fork");
  if (child == 0) {
    const Result<Answer> answer = work();
    if (!answer) dprintf(STDERR_FILENO, "%s\n", answer.error().message.c_str());
    const bool told = answer && write(pipe_ends[1], &*answer, sizeof *answer) ==
                                    static_cast<ssize_t>(sizeof *answer);
    _exit(told ? 0 : 1);
  }
  close(pipe_ends[1]);
  Answer answer{};
  const bool heard =
      read(pipe_ends[0], &answer, sizeof answer) == static_cast<ssize_t>(sizeof answer);
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!heard || status != 0) return fail(ErrorCode::kIo, "the child process failed");
  return answer;
}

}  // namespace skein::bench
