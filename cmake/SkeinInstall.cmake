# What `cmake --install` puts where: the program (component "program"), and the library with its
# headers and its package for find_package(skein) (component "development").

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Archives of a build that is optimised across translation units are for the same compiler alone.
if(CMAKE_INTERPROCEDURAL_OPTIMIZATION OR SKEIN_FUZZ)
  function(skein_install_library)
  endfunction()
  return()
endif()

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/skein")

# `name` is what users of the package call it: skein::NAME.
function(skein_install_library target name)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  install(
    TARGETS ${target} EXPORT skein COMPONENT development
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/skein"
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endfunction()

install(DIRECTORY include/skein DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
install(EXPORT skein NAMESPACE skein:: FILE skein-targets.cmake
        DESTINATION "${package_folder}" COMPONENT development)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/skein-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(
  FILES cmake/skein-config.cmake cmake/SkeinDependencies.cmake
        "${PROJECT_BINARY_DIR}/skein-config-version.cmake"
  DESTINATION "${package_folder}" COMPONENT development)
