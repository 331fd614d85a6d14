#include "bench/recall_data.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>

#include "core/json_fields.h"
#include "core/try.h"

namespace skein::bench {
namespace {

namespace fs = std::filesystem;

Result<void> each_line(const fs::path& path, const std::function<Result<void>(JsonFields&)>& take) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorCode::kNotFound, path.string() + ": cannot be read");
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty()) continue;
    const auto object = Json::parse_object(line);
    Result<void> taken = object ? Result<void>() : tl::unexpected(object.error());
    if (taken) {
      JsonFields fields(line);
      taken = take(fields);
    }
    if (!taken) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("{}:{}: {}", path.string(), number, taken.error().message));
    }
  }
  return {};
}

// "2023-05-08T13:56:00Z", "2023-05-08", "1:56 pm on 8 May, 2023".
Timestamp read_time(const std::string& text) {
  if (const auto exact = Timestamp::parse(text)) return *exact;
  if (const auto day = Timestamp::parse(text.substr(0, 10) + "T00:00:00Z")) return *day;
  int hour = 0;
  int minute = 0;
  int day = 0;
  int year = 0;
  std::array<char, 8> half{};
  std::array<char, 16> month{};
  if (std::sscanf(text.c_str(), "%d:%d %7s on %d %15[A-Za-z], %d", &hour, &minute, half.data(),
                  &day, month.data(), &year) != 6) {
    return {};
  }
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const std::size_t at = kMonths.find(std::string_view(month.data()).substr(0, 3));
  if (at == std::string_view::npos) return {};
  hour = hour % 12 + (half[0] == 'p' ? 12 : 0);
  const auto time = Timestamp::parse(
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:00Z", year, at / 3 + 1, day, hour, minute));
  return time.value_or(Timestamp{});
}

Result<std::string> need(JsonFields& fields, std::string_view name) {
  auto value = fields.take_string(name);
  if (value) return std::move(*value);
  return fail(ErrorCode::kInvalid, fmt::format("\"{}\" is missing", name));
}

Result<void> take_utterance(JsonFields& fields, RecallData& data) {
  Utterance said;
  SKEIN_ASSIGN(said.conversation, need(fields, "conv"));
  SKEIN_ASSIGN(said.session, need(fields, "session"));
  SKEIN_ASSIGN(said.id, need(fields, "dia_id"));
  SKEIN_ASSIGN(said.speaker, need(fields, "speaker"));
  SKEIN_ASSIGN(said.text, need(fields, "text"));
  said.time = read_time(fields.take_string("timestamp").value_or(""));
  if (const auto caption = fields.take_string("caption"); caption && !caption->empty()) {
    said.text += "\n[image: " + *caption + "]";
  }
  data.utterances.push_back(std::move(said));
  return {};
}

Result<void> take_question(JsonFields& fields, RecallData& data) {
  RecallQuestion question;
  SKEIN_ASSIGN(question.conversation, need(fields, "conv"));
  SKEIN_ASSIGN(question.text, need(fields, "question"));
  auto evidence = fields.take_strings("evidence_fixed");
  if (!evidence) evidence = fields.take_strings("evidence");
  if (evidence) question.evidence.insert(evidence->begin(), evidence->end());
  const auto number = fields.take_int("category");
  const auto name = fields.take_string("cat_name");
  question.category = name.value_or(number ? std::to_string(*number) : "all");
  constexpr std::int64_t kAdversarial = 5;
  question.apart = number == kAdversarial;
  data.questions.push_back(std::move(question));
  return {};
}

bool has_data(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "conversations.jsonl", error) &&
         fs::is_regular_file(folder / "questions.jsonl", error);
}

Result<void> read_folder(const fs::path& folder, RecallData& data) {
  SKEIN_TRY(each_line(folder / "conversations.jsonl",
                      [&](JsonFields& fields) { return take_utterance(fields, data); }));
  return each_line(folder / "questions.jsonl",
                   [&](JsonFields& fields) { return take_question(fields, data); });
}

}  // namespace

Result<RecallData> read_recall_data(const std::string& folder) {
  RecallData data;
  if (has_data(folder)) {
    SKEIN_TRY(read_folder(folder, data));
    return data;
  }
  std::error_code error;
  std::set<fs::path> inside;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (has_data(entry.path())) inside.insert(entry.path());
  }
  for (const fs::path& path : inside) SKEIN_TRY(read_folder(path, data));
  if (!inside.empty()) return data;
  return fail(ErrorCode::kNotFound,
              folder + ": there are no conversations.jsonl and questions.jsonl here");
}

}  // namespace skein::bench
