#include "recall/embedding/onnx_session.h"

#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "core/try.h"

namespace skein {
namespace {

// Everything used here is in each version of the API since then, so that an older library of the
// system will do.
constexpr std::uint32_t kApiVersion = 17;
static_assert(kApiVersion <= ORT_API_VERSION);

struct Library {
  const OrtApi* api = nullptr;
  std::string why_not;
};

bool is_told_not_to_report() {
  const char* value = std::getenv("ORT_DISABLE_TELEMETRY");
  return value != nullptr && std::string_view(value) == "1";
}

// Libraries stay loaded: ONNX Runtime leaves things behind in threads.
Library load(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return {.api = nullptr, .why_not = why == nullptr ? path : why};
  }
  void* entry = dlsym(handle, "OrtGetApiBase");
  if (entry == nullptr) return {.api = nullptr, .why_not = path + ": not ONNX Runtime"};
  const OrtApiBase* base = reinterpret_cast<const OrtApiBase* (*)()>(entry)();
  const std::string version = base->GetVersionString();
  if (OnnxSession::reports_home(version) && !is_told_not_to_report()) {
    return {.api = nullptr,
            .why_not = path + ": version " + version +
                       " reports to its makers, unless ORT_DISABLE_TELEMETRY=1 is set"};
  }
  const OrtApi* api = base->GetApi(kApiVersion);
  if (api != nullptr) return {.api = api, .why_not = {}};
  return {
      .api = nullptr,
      .why_not = path + ": version " + version + " is older than 1." + std::to_string(kApiVersion)};
}

Result<void> check(const OrtApi& api, OrtStatus* status) {
  if (status == nullptr) return {};
  const std::string message = api.GetErrorMessage(status);
  api.ReleaseStatus(status);
  return fail(ErrorCode::kIo, "ONNX Runtime: " + message);
}

// Something that the API made, and takes back.
template <class T>
class Owned {
 public:
  using Release = void (*)(T*);
  explicit Owned(Release release) : release_(release) {}
  ~Owned() { reset(); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  T** out() {
    reset();
    return &object_;
  }
  T* get() const { return object_; }

 private:
  void reset() {
    if (object_ != nullptr) release_(std::exchange(object_, nullptr));
  }
  const Release release_;
  T* object_ = nullptr;
};

}  // namespace

struct OnnxSession::State {
  explicit State(const OrtApi& with)
      : api(with),
        environment(with.ReleaseEnv),
        memory(with.ReleaseMemoryInfo),
        session(with.ReleaseSession) {}

  Result<void> open(std::string_view model) {
    SKEIN_TRY(check(api, api.CreateEnv(ORT_LOGGING_LEVEL_FATAL, "skein", environment.out())));
    SKEIN_TRY(check(api, api.DisableTelemetryEvents(environment.get())));
    Owned<OrtSessionOptions> options(api.ReleaseSessionOptions);
    SKEIN_TRY(check(api, api.CreateSessionOptions(options.out())));
    SKEIN_TRY(check(api, api.SetIntraOpNumThreads(options.get(), 1)));
    SKEIN_TRY(check(api, api.SetInterOpNumThreads(options.get(), 1)));
    SKEIN_TRY(check(api, api.SetSessionExecutionMode(options.get(), ORT_SEQUENTIAL)));
    // The model as it is written. Operators that are fused beyond that round otherwise in every
    // version of the library and on every kind of processor, and vectors with them.
    SKEIN_TRY(check(api, api.SetSessionGraphOptimizationLevel(options.get(), ORT_ENABLE_BASIC)));
    // Texts have many lengths: a plan for each would be kept, and the room of the longest. Both are
    // worth nothing measurable.
    SKEIN_TRY(check(api, api.DisableMemPattern(options.get())));
    SKEIN_TRY(check(api, api.DisableCpuMemArena(options.get())));
    SKEIN_TRY(
        check(api, api.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, memory.out())));
    return check(api, api.CreateSessionFromArray(environment.get(), model.data(), model.size(),
                                                 options.get(), session.out()));
  }

  const OrtApi& api;
  Owned<OrtEnv> environment;
  Owned<OrtMemoryInfo> memory;
  Owned<OrtSession> session;
};

OnnxSession::OnnxSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
OnnxSession::~OnnxSession() = default;

bool OnnxSession::reports_home(std::string_view version) {
  int major = 0;
  int minor = 0;
  const char* const end = version.data() + version.size();
  const auto [at, error] = std::from_chars(version.data(), end, major);
  if (error == std::errc() && at != end) std::from_chars(at + 1, end, minor);
  return major > 1 || (major == 1 && minor >= 29);
}

bool OnnxSession::can_load(const std::string& library) { return load(library).api != nullptr; }

Result<std::unique_ptr<OnnxSession>> OnnxSession::open(const std::vector<std::string>& libraries,
                                                       std::string_view model) {
  std::string reasons;
  for (const std::string& path : libraries) {
    const Library library = load(path);
    if (library.api == nullptr) {
      reasons += (reasons.empty() ? "" : "; ") + library.why_not;
      continue;
    }
    auto state = std::make_unique<State>(*library.api);
    SKEIN_TRY(state->open(model));
    return std::unique_ptr<OnnxSession>(new OnnxSession(std::move(state)));
  }
  return fail(ErrorCode::kIo, "ONNX Runtime cannot be loaded: " + reasons);
}

Result<void> OnnxSession::run(std::span<std::int64_t> ids,
                              const std::function<void(std::span<const float> rows)>& use) const {
  const OrtApi& api = state_->api;
  std::vector<std::int64_t> ones(ids.size(), 1);
  std::vector<std::int64_t> zeros(ids.size(), 0);
  const std::array<std::int64_t, 2> shape = {1, static_cast<std::int64_t>(ids.size())};
  Owned<OrtValue> pieces(api.ReleaseValue);
  Owned<OrtValue> mask(api.ReleaseValue);
  Owned<OrtValue> types(api.ReleaseValue);
  const auto make = [&](std::span<std::int64_t> values, Owned<OrtValue>& tensor) {
    return check(api, api.CreateTensorWithDataAsOrtValue(
                          state_->memory.get(), values.data(), values.size_bytes(), shape.data(),
                          shape.size(), ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, tensor.out()));
  };
  SKEIN_TRY(make(ids, pieces));
  SKEIN_TRY(make(ones, mask));
  SKEIN_TRY(make(zeros, types));

  constexpr std::array<const char*, 3> kInputs = {"input_ids", "attention_mask", "token_type_ids"};
  constexpr std::array<const char*, 1> kOutputs = {"last_hidden_state"};
  const std::array<const OrtValue*, 3> inputs = {pieces.get(), mask.get(), types.get()};
  Owned<OrtValue> output(api.ReleaseValue);
  SKEIN_TRY(check(api, api.Run(state_->session.get(), nullptr, kInputs.data(), inputs.data(),
                               inputs.size(), kOutputs.data(), kOutputs.size(), output.out())));

  Owned<OrtTensorTypeAndShapeInfo> info(api.ReleaseTensorTypeAndShapeInfo);
  SKEIN_TRY(check(api, api.GetTensorTypeAndShape(output.get(), info.out())));
  std::size_t count = 0;
  SKEIN_TRY(check(api, api.GetTensorShapeElementCount(info.get(), &count)));
  void* data = nullptr;
  SKEIN_TRY(check(api, api.GetTensorMutableData(output.get(), &data)));
  use({static_cast<const float*>(data), count});
  return {};
}

}  // namespace skein
