#include "cli/dialogue.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

namespace skein {

Result<std::string> read_standard_input(std::size_t limit) {
  std::string text;
  char buffer[64 << 10];
  while (text.size() <= limit) {
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return fail(ErrorCode::kIo,
                  std::string("cannot read standard input: ") + std::strerror(errno));
    }
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

tl::expected<bool, Failure> ask(const std::string& question, const std::string& purpose) {
  if (::isatty(STDIN_FILENO) != 1) {
    return wrong_usage("standard input is not a terminal: give --yes " + purpose);
  }
  std::cerr << question << " [y/N] ";
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes" || answer == "Y";
}

}  // namespace skein
