#include <algorithm>

#include "support/builders.h"
#include "support/world.h"

namespace skein::test {

std::string World::tell(const Manifest& manifest) {
  known_.last_seq[manifest.id] = manifest.last_seq;
  return describe(manifest) + " " + tell_version(manifest.id.str(), manifest.version);
}

std::string World::tell(const ThreadPage& page) {
  std::string text = page.total ? std::to_string(*page.total) + " in all" : "";
  for (const Manifest& manifest : page.threads) text += "\n    " + tell(manifest);
  return text + (page.next.empty() ? " and no more" : " and more");
}

std::string World::tell_version(const std::string& object, Version version) {
  if (version == 0) return "version 0";
  std::vector<Version>& known = known_.versions[object];
  auto at = std::find(known.begin(), known.end(), version);
  if (at == known.end()) at = known.insert(known.end(), version);
  return "version #" + std::to_string(at - known.begin() + 1);
}

std::string World::tell_token(LeaseToken token) {
  auto at = std::find(known_.all_tokens.begin(), known_.all_tokens.end(), token);
  if (at == known_.all_tokens.end()) at = known_.all_tokens.insert(known_.all_tokens.end(), token);
  return "token #" + std::to_string(at - known_.all_tokens.begin() + 1);
}

std::string World::tell_changes(const std::vector<Change>& changes) const {
  std::map<std::string, std::string> by_object;
  for (const Change& change : changes) {
    const std::string object = feed_in_order_              ? "all"
                               : change.collection.empty() ? change.thread.str()
                                                           : change.collection + "/" + change.key;
    by_object[object] += "\n    " + describe(change);
  }
  std::string text;
  for (const auto& [object, lines] : by_object) text += lines;
  return text;
}

}  // namespace skein::test
