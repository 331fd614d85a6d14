# The headers of libraries that nearly every source includes, compiled once for all layers. Sources
# still include what they use, since a build without precompiled headers must pass as well.

option(SKEIN_PRECOMPILE_HEADERS "Compile the headers of libraries once for all sources (clang)" ON)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(SKEIN_PRECOMPILE_HEADERS OFF) # tools/compiler_cache knows those of clang
endif()

set(SKEIN_PRECOMPILED
    <algorithm> <array> <atomic> <charconv> <chrono> <condition_variable> <cstdint> <cstdlib>
    <cstring> <deque> <filesystem> <functional> <map> <memory> <mutex> <optional> <set> <span>
    <stop_token> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>
    <boost/json.hpp> <fmt/format.h> <tl/expected.hpp>)

# Defines `target`, which compiles `headers`. Users of it need the same compile options.
function(skein_add_precompiled_headers target)
  set(source "${PROJECT_BINARY_DIR}/${target}.cc")
  file(WRITE "${source}.new" "// Compiles the precompiled headers.\n")
  file(COPY_FILE "${source}.new" "${source}" ONLY_IF_DIFFERENT)
  add_library(${target} OBJECT "${source}")
  if(SKEIN_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

function(skein_use_precompiled_headers target from)
  if(SKEIN_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()

# Without the times of its headers, a precompiled header leaves cached objects valid.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(PREPEND CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH -Xclang -fno-pch-timestamp)
endif()
