// Counts what other programs keep and Skein does not, so that nobody misses it unawares.
#pragma once

#include <string>

#include "api/transfer/folders/folder_import.h"

namespace skein {

// Memories, notes, skills, secrets, bots, settings and embeddings of a Nova workspace.
void count_nova_rest(const FolderImport& import);

// Learnings, decisions, suggestions, usage of learnings and running sessions of a gitmem project;
// `folder` is its .gitmem from the source.
void count_gitmem_rest(const FolderImport& import, const std::string& folder);

// Workers of an HQ folder.
void count_hq_rest(const FolderImport& import);

}  // namespace skein
