// The git repository of the demo, whose commits are as old as its story says.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "skein/clock.h"
#include "skein/error.h"

namespace skein {

struct DemoFile {
  std::string path;  // from the repository's folder
  std::string content;
};

class DemoRepository {
 public:
  // Makes an empty one in a folder that is there. kNotFound: there is no git.
  static Result<DemoRepository> create(const std::string& folder);

  // Adds the files and commits them; the work tree then has them, too. Answers the commit's id.
  Result<std::string> commit(const std::string& subject, const std::vector<DemoFile>& files,
                             Timestamp time);
  // Changes files without committing them.
  Result<void> write(const std::vector<DemoFile>& files) const;

  std::size_t commits() const { return commits_; }
  const std::string& head() const { return head_; }  // empty: none yet

 private:
  explicit DemoRepository(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;
  std::string head_;
  std::size_t commits_ = 0;
};

}  // namespace skein
