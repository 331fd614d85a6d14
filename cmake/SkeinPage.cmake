# The page: Vite builds it from web/, and it becomes part of the program.

set(page_folder "${PROJECT_SOURCE_DIR}/web")
if(NOT EXISTS "${page_folder}/node_modules/vite/package.json")
  message(FATAL_ERROR "What builds the page is missing: run tools/setup first. (${page_folder}/node_modules)")
endif()

# One that is new enough for Vite; Debian's is not.
skein_npm_folder("node-linux-{arch}" SKEIN_NODE)
string(APPEND SKEIN_NODE "/bin/node")

file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS
  "${page_folder}/src/*" "${page_folder}/public/*" "${page_folder}/*.html" "${page_folder}/*.js"
  "${page_folder}/*.mjs" "${page_folder}/*.json" "${PROJECT_SOURCE_DIR}/clients/typescript/src/*")
list(FILTER page_sources EXCLUDE REGEX "/node_modules/")
set(page_dist "${PROJECT_BINARY_DIR}/page")
set(page_bytes "${PROJECT_BINARY_DIR}/page.bin")
set(page_index "${PROJECT_BINARY_DIR}/page.inc")
add_custom_command(
  OUTPUT "${page_bytes}" "${page_index}"
  COMMAND "${SKEIN_NODE}" node_modules/vite/bin/vite.js build --configLoader native --logLevel warn
          --outDir "${page_dist}"
  COMMAND "${SKEIN_NODE}" embed.mjs "${page_dist}" "${page_bytes}" "${page_index}"
  WORKING_DIRECTORY "${page_folder}"
  DEPENDS ${page_sources}
  COMMENT "Building the page")
set_source_files_properties(
  src/http/page_files.cc
  PROPERTIES OBJECT_DEPENDS "${page_bytes};${page_index}"
             COMPILE_DEFINITIONS "SKEIN_PAGE_BYTES=\"${page_bytes}\";SKEIN_PAGE_INDEX=\"${page_index}\"")
