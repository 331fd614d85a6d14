#include "api/transfer/transcripts/recognise.h"

#include <algorithm>
#include <fstream>

#include "api/transfer/transcripts/json_lines.h"
#include "core/json_fields.h"

namespace skein {
namespace {

std::optional<FileKind> kind_of_line(RawJson object) {
  const JsonFields fields(object);
  const auto has = [&](std::string_view name) {
    return std::any_of(fields.others().begin(), fields.others().end(),
                       [&](const JsonFields::Field& field) { return field.name == name; });
  };
  // A manifest.
  if (has("agentId") && has("createdAt")) return FileKind::kThreads;
  if (has("messages") || has("values")) return FileKind::kMessages;
  if (has("type") && has("payload")) return FileKind::kCodex;
  if (has("type") && (has("sessionId") || has("leafUuid") || has("parentUuid"))) {
    return FileKind::kClaude;
  }
  return std::nullopt;
}

// One JSON value over the whole file, of which the first line is only a part.
bool is_one_value(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  char first = 0;
  file >> std::ws;
  if (!file.get(first)) return false;
  if (first == '[') return true;
  if (first != '{' || path.extension() != ".json") return false;
  auto lines = LineFile::open(path);
  LineBuffer::Line line;
  return lines && lines->next(line).value_or(false) &&
         !validate_json(line.text, "line", kMaxDocumentDepth);
}

}  // namespace

FileKind recognise(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return FileKind::kThreads;
  if (is_one_value(path)) return FileKind::kMessages;
  constexpr int kLinesToLookAt = 50;
  auto lines = JsonLines::open(path, nullptr);
  JsonLines::Line line;
  for (int i = 0; lines && i < kLinesToLookAt; ++i) {
    if (!lines->next(line).value_or(false)) break;
    if (const auto kind = kind_of_line(line.object)) return *kind;
  }
  const bool is_rollout = path.stem().string().starts_with("rollout-");
  return is_rollout ? FileKind::kCodex : FileKind::kThreads;
}

bool is_transcript_name(const std::filesystem::path& path) {
  const std::string stem = path.stem().string();
  return path.extension() == ".jsonl" &&
         (stem.starts_with("rollout-") || stem.starts_with("agent-") ||
          check_alias(stem).has_value());
}

}  // namespace skein
