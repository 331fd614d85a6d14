// notes TEXT: writes a note down, and prints what a model with a small window would get to see.
#include <iostream>

#include "skein/thread_manager.h"

using namespace skein;

// The thread that the notes are in, from the first run on.
Result<Manifest> notebook(ThreadManager& threads) {
  auto page = threads.page({.agent_id = "notes", .limit = 1});
  if (!page) return tl::unexpected(page.error());
  if (!page->threads.empty()) return page->threads.front();
  return threads.create({.agent_id = "notes", .title = "Notebook"});
}

Result<void> write_down(ThreadManager& threads, const std::string& text) {
  auto thread = notebook(threads);
  if (!thread) return tl::unexpected(thread.error());
  const std::string id = thread->id.str();

  auto note = threads.add_message(id, {.role = Role::kUser, .text = text});
  if (!note) return tl::unexpected(note.error());
  std::cout << "note " << note->seq << " is on disk\n";

  auto window = threads.context(id, {.max_tokens = 100});
  if (!window) return tl::unexpected(window.error());
  for (const Event& event : window->messages) {
    std::cout << "  " << event.seq << "  " << std::get<Message>(event.payload).text << "\n";
  }
  std::cout << window->tokens << " tokens\n";
  return {};
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: notes TEXT\n";
    return 2;
  }
  auto store = open_store("sqlite:notes.db");
  if (!store) {
    std::cerr << store.error().message << "\n";
    return 1;
  }
  ThreadManager threads(**store);
  if (auto done = write_down(threads, argv[1]); !done) {
    std::cerr << done.error().message << "\n";
    return 1;
  }
}
