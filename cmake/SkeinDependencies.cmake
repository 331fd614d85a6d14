# Everything comes from Debian 12 packages; tools/setup installs them. Installed along with the
# library, whose users link the same.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(simdjson REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(CURL 7.87 REQUIRED)

find_package(PkgConfig REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(re2 REQUIRED re2)
pkg_check_modules(libpq REQUIRED IMPORTED_TARGET libpq)

find_library(SKEIN_STEMMER stemmer REQUIRED)
find_path(SKEIN_STEMMER_INCLUDE libstemmer.h REQUIRED)
if(NOT TARGET skein_stemmer)
  add_library(skein_stemmer INTERFACE IMPORTED)
  target_link_libraries(skein_stemmer INTERFACE "${SKEIN_STEMMER}")
  target_include_directories(skein_stemmer SYSTEM INTERFACE "${SKEIN_STEMMER_INCLUDE}")
endif()

# What each layer takes from outside. Which file may include what is checked by tools/check_layers.
set(SKEIN_USES_core
    Threads::Threads
    Boost::json
    simdjson::simdjson
    fmt::fmt
    tl::expected
    SQLite::SQLite3
    CURL::libcurl
    OpenSSL::Crypto
    PkgConfig::xxhash
    PkgConfig::utf8proc
    ${re2_LINK_LIBRARIES})
set(SKEIN_USES_store PkgConfig::libpq)
set(SKEIN_USES_recall skein_stemmer ${CMAKE_DL_LIBS})
set(SKEIN_USES_cli CLI11::CLI11)
