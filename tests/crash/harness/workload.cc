#include "crash/harness/workload.h"

#include <fmt/format.h>

#include <cstdio>

namespace skein::crash {
namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9E3779B97F4A7C15ULL + b + 1;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

// Text that needs escapes and more than one byte a character, of about the given length.
std::string filler(std::uint64_t seed, std::size_t bytes) {
  static constexpr std::string_view kWords[] = {"thread ", "memory ", "\"quoted\" ", "Käse ",
                                                "日本 ",   "a\\b ",   "line\n",      "tab\t",
                                                "🧵 ",     "crc"};
  std::mt19937_64 random(seed);
  std::string text;
  while (text.size() < bytes) text += kWords[random() % std::size(kWords)];
  return text;
}

// Mostly a line, sometimes some pages.
std::size_t some_length(std::uint64_t random) {
  if (random % 40 == 0) return 2'000 + random % 50'000;
  return 10 + random % 300;
}

Event make_event(const Origin& origin, std::uint64_t random) {
  Event event;
  const std::string text = str(origin) + " " + filler(random, some_length(random >> 8));
  switch (random % 5) {
    case 0:
      event.payload =
          ToolUse{"tool", Json::trusted("{\"argument\":" + Json::string(text).text() + "}")};
      break;
    case 1:
      event.payload = AssistantText{text};
      break;
    case 2:
      event.payload = RunResult{.cost = 0.25,
                                .duration_ms = 12.5,
                                .turns = 2,
                                .input_tokens = static_cast<std::int64_t>(origin.number),
                                .output_tokens = {},
                                .cache_read_tokens = {}};
      break;
    default:
      event.payload = Message{random % 2 == 0 ? Role::kUser : Role::kAssistant, text};
  }
  event.metadata = origin_metadata(origin);
  if (random % 7 == 0) event.extra = Json::trusted("{\"colour\":\"green\"}");
  if (random % 3 == 0) event.key = "key " + str(origin);
  return event;
}

// Every field says which update it is from, so that half an update shows.
ManifestPatch make_patch(const Origin& origin, std::uint64_t random) {
  ManifestPatch patch;
  patch.title("title " + str(origin));
  patch.metadata(origin_metadata(origin));
  // The long ones outgrow whatever room a backend left for the manifest.
  const std::size_t length = random % 6 == 0 ? 1'000 + random % 9'000 : random % 60;
  patch.set("note", str(origin) + " " + filler(random, length));
  return patch;
}

}  // namespace

ThreadId Workload::shared_id(int index) const {
  return ThreadId::from_bits(mix(seed, 1'000 + static_cast<std::uint64_t>(index)));
}

ThreadId Workload::own_id(int writer) const {
  return ThreadId::from_bits(mix(seed, 2'000 + static_cast<std::uint64_t>(writer)));
}

Script::Script(const Workload& workload, int writer)
    : workload_(workload),
      writer_(writer),
      random_(mix(workload.seed, static_cast<std::uint64_t>(writer))) {}

OpKind Script::choose_kind() {
  if (workload_.one_thread_only) return OpKind::kAppend;
  if (number_ == 0) return OpKind::kCreateOwn;
  const std::uint64_t choice = below(100);
  if (choice < 60) return OpKind::kAppend;
  if (choice < 72) return OpKind::kUpdate;
  if (choice < 84) return OpKind::kRecords;
  if (choice < 91) return OpKind::kCreate;
  if (choice < 95) return removable_.empty() ? OpKind::kAppend : OpKind::kRemove;
  return OpKind::kLease;
}

ThreadId Script::any_thread() {
  if (workload_.one_thread_only) return workload_.shared_id(0);
  const int index =
      static_cast<int>(below(static_cast<std::uint64_t>(workload_.shared_threads) + 1));
  return index == workload_.shared_threads ? workload_.own_id(writer_) : workload_.shared_id(index);
}

void Script::fill_append(Op& op) {
  const std::size_t parts = workload_.one_thread_only || below(3) > 0 ? 1 : 2 + below(3);
  for (std::size_t part = 0; part < parts; ++part) {
    op.targets.push_back(any_thread());
    op.events.push_back(make_event({writer_, op.number, part}, random_()));
  }
}

void Script::fill_records(Op& op) {
  const std::uint64_t group = below(4);
  for (int part = 0; part < 3; ++part) {
    RecordWrite write;
    write.collection = kCollection;
    write.key = fmt::format("{:016x}/{}/{}/{}", workload_.seed, writer_, group, part);
    const std::uint64_t random = random_();
    // The last one is sometimes deleted.
    if (part < 2 || random % 3 > 0) {
      write.bytes = fmt::format("{} {}", str(Origin{writer_, op.number, 0}),
                                filler(random, some_length(random >> 8)));
    }
    op.writes.push_back(std::move(write));
  }
}

Op Script::next() {
  Op op;
  op.kind = choose_kind();
  op.writer = writer_;
  op.number = number_;
  const Origin origin{writer_, op.number, 0};
  op.thread = workload_.own_id(writer_);
  switch (op.kind) {
    case OpKind::kAppend:
      fill_append(op);
      break;
    case OpKind::kUpdate:
      op.thread = any_thread();
      op.patch = make_patch(origin, random_());
      break;
    case OpKind::kRecords:
      fill_records(op);
      break;
    case OpKind::kCreate: {
      op.thread = ThreadId::from_bits(mix(mix(workload_.seed, 3'000 + op.number), writer_));
      op.patch = make_patch(origin, random_());
      const std::uint64_t events = below(12);
      for (std::uint64_t part = 0; part < events; ++part)
        op.events.push_back(make_event({writer_, op.number, part}, random_()));
      removable_.push_back(op.thread);
      break;
    }
    case OpKind::kRemove:
      op.thread = removable_.back();
      removable_.pop_back();
      break;
    case OpKind::kCreateOwn:
    case OpKind::kLease:
      break;
  }
  ++number_;
  return op;
}

std::string str(const Origin& origin) {
  return fmt::format("{}.{}.{}", origin.writer, origin.number, origin.part);
}

Json origin_metadata(const Origin& origin) {
  return Json::trusted(fmt::format("{{\"writer\":{},\"op\":{},\"part\":{}}}", origin.writer,
                                   origin.number, origin.part));
}

std::optional<Origin> parse_origin(const Json& metadata) {
  Origin origin;
  unsigned long long number = 0;
  unsigned long long part = 0;
  if (std::sscanf(metadata.text().c_str(), "{\"writer\":%d,\"op\":%llu,\"part\":%llu}",
                  &origin.writer, &number, &part) != 3)
    return std::nullopt;
  origin.number = number;
  origin.part = part;
  return origin;
}

}  // namespace skein::crash
