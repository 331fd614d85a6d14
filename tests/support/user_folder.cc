// A user folder of its own for every test program, linked into each of them.
//
// Skein keeps trust decisions and the signing secret in $XDG_CONFIG_HOME/skein. A test must not
// read or write the real ones. Programs that a test starts inherit the folder, so that all
// processes of one test act for the same user.
#include <sys/types.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace {

constexpr const char* kGiven = "SKEIN_TEST_USER_FOLDER";

class UserFolder {
 public:
  UserFolder() {
    // systemd sets these for a service; they would win over XDG_CONFIG_HOME.
    ::unsetenv("CONFIGURATION_DIRECTORY");
    ::unsetenv("STATE_DIRECTORY");
    if (std::getenv(kGiven) != nullptr) return;  // started by a test program, which made one
    path_ = (std::filesystem::temp_directory_path() / "skein-test-user-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) {
      std::perror("cannot make a temporary user folder");
      std::abort();
    }
    ::setenv(kGiven, path_.c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", path_.c_str(), 1);
  }

  ~UserFolder() {
    if (path_.empty() || owner_ != ::getpid()) return;  // a forked child leaves it alone
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

 private:
  const pid_t owner_ = ::getpid();
  std::string path_;
};

const UserFolder user_folder;

}  // namespace
