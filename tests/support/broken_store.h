// Stores with one bug each, to show that the comparison would find it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "skein/store.h"

namespace skein::test {

// The bugs by name: "LosesAnAppend", …
std::vector<std::string> bug_names();

// A store that passes everything on to `inner`, which it borrows, but for the bug.
std::unique_ptr<Store> break_store(Store& inner, const std::string& bug);

}  // namespace skein::test
