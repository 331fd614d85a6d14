#include "support/temp_dir.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

namespace skein::test {

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "skein-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    std::perror("cannot make a temporary folder");
    std::abort();
  }
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace skein::test
