# find_package(skein): the target skein::skein, with everything that it links.
include("${CMAKE_CURRENT_LIST_DIR}/SkeinDependencies.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/skein-targets.cmake")
