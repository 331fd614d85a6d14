// Runs an agent of the workspace in the current folder, and finds again what was said.
#include <iostream>

#include "skein/workspace.h"

int main() {
  auto workspace = skein::Workspace::open(".").value();
  auto outcome = workspace->run("echo", "Where do we meet?").value();
  std::cout << outcome.response << "\n";
  workspace->backfill().value();
  std::cout << workspace->search("meet").value().results.size() << " thread says so\n";
}
