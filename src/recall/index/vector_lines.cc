#include "recall/index/vector_lines.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/file.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/line_buffer.h"
#include "core/try.h"
#include "recall/index/message_writer.h"
#include "recall/vectors.h"

namespace skein {
namespace {

constexpr std::size_t kMaxPositions = 1000;

// Codes have two digits; six of the product say all of them.
void append_component(std::string& out, double value) {
  constexpr double kDigits = 1e6;
  append_json_number(out, std::round(value * kDigits) / kDigits);
}

}  // namespace

std::string vector_line(const VectorEntry& entry, std::string_view model) {
  constexpr std::size_t kScaleBytes = 4;
  if (!entry.index || entry.vector.size() < kScaleBytes) return {};
  const auto code = vector_from_bytes(entry.vector, entry.vector.size() - kScaleBytes);
  if (!code) return {};
  std::string values = "[";
  for (const std::int8_t value : code->values) {
    if (values.size() > 1) values += ',';
    append_component(values, static_cast<double>(value) * static_cast<double>(code->scale));
  }
  JsonObject line;
  line.add("threadId", entry.thread.str()).add("messageIndex", *entry.index);
  line.add("role", to_string(entry.role)).add("text", entry.text);
  line.add_json("embedding", values + "]").add("timestamp", entry.time.str());
  return line.add("seq", entry.seq).add("model", model).str() + "\n";
}

bool is_own_vector_line(const std::string& line) {
  if (!Json::parse_object(line)) return false;
  JsonFields fields(line);
  return fields.take_string("threadId") && fields.take_int("seq") && fields.take_string("model");
}

std::optional<ThreadId> thread_of_vector_line(std::string_view line) {
  if (!Json::parse_object(line)) return std::nullopt;
  const auto text = JsonFields(line).take_string("threadId");
  if (!text) return std::nullopt;
  const auto id = ThreadId::parse(*text);
  return id ? std::optional(*id) : std::nullopt;
}

Result<void> each_vector_line(const std::string& path,
                              const std::function<Result<bool>(const std::string& line)>& visit) {
  constexpr std::size_t kLongestLine = std::size_t{16} << 20;
  constexpr std::size_t kPiece = std::size_t{256} << 10;
  std::error_code error;
  if (std::filesystem::is_symlink(path, error)) {
    return fail(ErrorCode::kIo, path + " is a symbolic link; move it away, and its file here");
  }
  SKEIN_ASSIGN(const auto there, stat_file(path));
  if (!there) return {};
  SKEIN_ASSIGN(const Fd file, open_file(path, O_RDONLY));
  SKEIN_ASSIGN(const FileStamp stamp, stat_open(file, path));
  std::uint64_t offset = 0;
  LineBuffer lines(kLongestLine);
  LineBuffer::Line line;
  std::size_t unfinished = 0;  // bytes since the last whole line
  for (std::size_t got = kPiece; got == kPiece;) {
    const auto left = std::min<std::uint64_t>(kPiece, stamp.size - offset);
    SKEIN_ASSIGN(got, read_at(file, path, offset, lines.room(kPiece), left));
    offset += got;
    lines.fill(got);
    unfinished += got;
    if (got < kPiece) lines.end();
    bool too_long = false;
    while (!too_long && lines.next(line)) {
      unfinished = 0;
      too_long = line.too_long;
      if (too_long || line.text.empty()) continue;
      SKEIN_ASSIGN(const bool more, visit(std::string(line.text)));
      if (!more) return {};
    }
    if (too_long || unfinished > kLongestLine) {
      return fail(ErrorCode::kDamaged, path + ": line exceeds " + std::to_string(kLongestLine) +
                                           " bytes (limit for a vector); remove the line or "
                                           "delete the file");
    }
  }
  return {};
}

Result<void> MessageCounter::count(ThreadId thread, const std::map<Seq, VectorEntry*>& entries) {
  if (entries.empty()) return {};
  if (positions_.size() >= kMaxPositions && !positions_.contains(thread)) positions_.clear();
  Position& position = positions_[thread];
  if (position.seq >= entries.begin()->first) position = {};
  const Seq last = entries.rbegin()->first;
  auto read = store_.read(thread, {.from = position.seq + 1}, [&](Event& event) {
    if (event.seq > last) return false;
    position.seq = event.seq;
    Message* message = std::get_if<Message>(&event.payload);
    if (recalled_message(event) == nullptr) return true;
    if (const auto wanted = entries.find(event.seq); wanted != entries.end()) {
      wanted->second->index = position.count;
      wanted->second->text = std::move(message->text);
    }
    ++position.count;
    return event.seq < last;
  });
  if (read) return {};
  positions_.erase(thread);
  return read.error().code == ErrorCode::kDamaged ? Result<void>() : read;
}

}  // namespace skein
