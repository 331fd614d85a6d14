# Files out of npm packages, which tools/setup downloads.

# The folder that holds those of a package.
function(skein_npm_folder package result)
  execute_process(
    COMMAND "${PROJECT_SOURCE_DIR}/tools/npm_files" path "${package}"
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/npm_files.txt")
