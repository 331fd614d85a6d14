# One library per layer, linked as the table in tools/layers.txt says. A layer without a folder, or
# with an empty one, has no target. Sources are found by themselves: adding a file needs no edit here.

# Calls `function(layer sees...)` for every row of the table, in order.
function(skein_for_each_layer function)
  set(table "${PROJECT_SOURCE_DIR}/tools/layers.txt")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
  file(STRINGS "${table}" rows REGEX "^layer ")
  foreach(row IN LISTS rows)
    string(REGEX MATCH "^layer ([a-z_]+):(.*)$" _ "${row}")
    set(layer "${CMAKE_MATCH_1}")
    separate_arguments(sees UNIX_COMMAND "${CMAKE_MATCH_2}")
    cmake_language(CALL ${function} ${layer} ${sees})
  endforeach()
endfunction()

# The folder of a layer: all are under src/, except the benchmarks.
function(skein_layer_folder layer result)
  if(layer STREQUAL "bench")
    set(${result} "${PROJECT_SOURCE_DIR}/bench" PARENT_SCOPE)
  else()
    set(${result} "${PROJECT_SOURCE_DIR}/src/${layer}" PARENT_SCOPE)
  endif()
endfunction()

function(skein_add_layer layer)
  if(layer STREQUAL "cli")
    return() # a program, see skein_add_program
  endif()
  skein_layer_folder(${layer} folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cc")
  if(NOT sources)
    return()
  endif()

  set(target skein_${layer})
  add_library(${target} STATIC ${sources})
  target_include_directories(
    ${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include;${PROJECT_SOURCE_DIR}/src>")
  target_link_libraries(
    ${target} PRIVATE "$<BUILD_INTERFACE:skein_compile_options>" PUBLIC ${SKEIN_USES_${layer}})
  foreach(seen IN LISTS ARGN)
    if(TARGET skein_${seen})
      target_link_libraries(${target} PUBLIC skein_${seen})
    endif()
  endforeach()

  if(layer STREQUAL "bench")
    target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}") # "bench/….h"
    target_link_libraries(${target} PUBLIC skein::skein)
  else()
    target_link_libraries(libskein INTERFACE "$<LINK_ONLY:${target}>")
    skein_install_library(${target} ${layer})
  endif()
endfunction()

# skein::skein is libskein as its users see it: the public headers, and all layers to link.
function(skein_add_layers)
  add_library(libskein INTERFACE)
  add_library(skein::skein ALIAS libskein)
  target_include_directories(libskein INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>")
  target_compile_features(libskein INTERFACE cxx_std_20)
  target_link_libraries(libskein INTERFACE tl::expected)
  skein_install_library(libskein skein)
  skein_for_each_layer(skein_add_layer)
endfunction()

function(skein_link_program layer)
  if(layer STREQUAL "cli")
    foreach(seen IN LISTS ARGN)
      if(TARGET skein_${seen})
        target_link_libraries(skein PRIVATE skein_${seen})
      endif()
    endforeach()
  endif()
endfunction()

function(skein_add_program)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/cli/*.cc")
  if(NOT sources OR SKEIN_FUZZ)
    return()
  endif()
  find_package(CLI11 REQUIRED)
  add_executable(skein ${sources})
  target_include_directories(skein PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_compile_definitions(skein PRIVATE "SKEIN_VERSION=\"${PROJECT_VERSION}\"")
  target_link_libraries(skein PRIVATE skein_compile_options skein::skein ${SKEIN_USES_cli})
  if(NOT SKEIN_SANITIZE) # they count memory themselves
    find_library(SKEIN_JEMALLOC jemalloc REQUIRED)
    target_link_libraries(skein PRIVATE "${SKEIN_JEMALLOC}")
  endif()
  skein_for_each_layer(skein_link_program)
  install(TARGETS skein COMPONENT program)
endfunction()
