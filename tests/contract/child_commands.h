// What a second process does to the store for the tests of this folder.
#pragma once

#include <string>
#include <vector>

namespace skein::test {

//   append URL THREAD NAME COUNT  says "ready", waits for a line, then appends NAME-0, NAME-1, …
//   each
//                                 with its text as key, and says the seq of each when it is told
//   changes URL CURSOR            says each change since, then "cursor C"
//   lease URL THREAD HOLDER MS    says "token T", or the code of the error
//   put URL COLLECTION KEY BYTES  writes a record
//   start_limited URL MAX COUNT   says "ready", waits for a line, then tries to start COUNT threads
//                                 of one user who may have MAX, and says "started" or the code of
//                                 the error for each
int child_command(const std::vector<std::string>& arguments);

}  // namespace skein::test
