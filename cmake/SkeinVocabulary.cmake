# The o200k_base vocabulary as a table in the build folder, which vocabulary.cc takes into the program.

skein_npm_folder(js-tiktoken js_tiktoken)
set(ranks "${js_tiktoken}/dist/ranks/o200k_base.cjs")
if(NOT EXISTS "${ranks}")
  message(FATAL_ERROR "The o200k_base ranks are missing: run tools/setup first. (${ranks})")
endif()

add_executable(make_vocabulary tools/make_vocabulary.cc)
target_include_directories(make_vocabulary PRIVATE "${PROJECT_SOURCE_DIR}/src")
target_link_libraries(make_vocabulary PRIVATE skein_compile_options)
set_target_properties(make_vocabulary PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)

set(vocabulary "${PROJECT_BINARY_DIR}/o200k_base.bin")
add_custom_command(
  OUTPUT "${vocabulary}"
  COMMAND make_vocabulary "${ranks}" "${vocabulary}"
  DEPENDS make_vocabulary "${ranks}"
  COMMENT "Making the table of o200k_base")
set_source_files_properties(
  src/thread/tokens/vocabulary.cc
  PROPERTIES OBJECT_DEPENDS "${vocabulary}" COMPILE_DEFINITIONS "SKEIN_VOCABULARY=\"${vocabulary}\"")
