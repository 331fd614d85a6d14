# How everything is compiled. The presets choose among these; a build configured by hand gets
# the defaults, which work with clang 19 and GCC 12.

option(SKEIN_BUILD_TESTS "Define the test programs" ${PROJECT_IS_TOP_LEVEL})
option(SKEIN_TESTS_IN_ALL "Build the test programs with the default target" ON)
option(SKEIN_WERROR "Treat warnings as errors" OFF)
option(SKEIN_LTO "Optimise across translation units (clang: ThinLTO)" OFF)
option(SKEIN_FUZZ "Build the fuzz programs with libFuzzer, and nothing else that is a program" OFF)
set(SKEIN_SANITIZE "" CACHE STRING "Value for -fsanitize=, empty for none")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# A cached object is good in every checkout of the same source: paths are taken relative to it.
find_program(SKEIN_CCACHE ccache)
if(SKEIN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_BASEDIR=${PROJECT_SOURCE_DIR};${PROJECT_SOURCE_DIR}/tools/compiler_cache")
endif()

# What our own targets are compiled with, carried by a target so that nothing else inherits it.
add_library(skein_compile_options INTERFACE)
target_compile_options(
  skein_compile_options
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
            "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=" -fdiagnostics-color=auto)
if(SKEIN_WERROR)
  target_compile_options(skein_compile_options INTERFACE -Werror)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(-fuse-ld=lld)
endif()

if(SKEIN_SANITIZE)
  add_compile_options("-fsanitize=${SKEIN_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # The check of virtual calls makes write(2) calls of its own, and ends the program when a fault test
  # lets one of them fail.
  add_compile_options(-fno-sanitize=vptr)
  add_link_options("-fsanitize=${SKEIN_SANITIZE}")
endif()
if(SKEIN_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(SKEIN_LTO)
  include(CheckIPOSupported)
  check_ipo_supported(RESULT SKEIN_LTO_WORKS OUTPUT SKEIN_LTO_OUTPUT LANGUAGES CXX)
  if(SKEIN_LTO_WORKS)
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  else()
    message(STATUS "Link-time optimisation does not work here, building without it")
  endif()
endif()
