#include "core/checked_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/json_array.h"
#include "core/quote.h"

namespace skein {
namespace {

std::optional<RawJson> anything(RawJson value) { return value; }

std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

CheckedFields::CheckedFields(std::string_view object, std::string path, Problems problems)
    : path_(std::move(path)), problems_(std::move(problems)), fields_(object) {}

CheckedFields::~CheckedFields() {
  for (const JsonFields::Field& field : fields_.others()) {
    wrong(field.name, "is not a field here; those are " + joined(known_));
  }
}

std::optional<RawJson> CheckedFields::take(std::string_view name) {
  known_.emplace_back(name);
  return fields_.take<RawJson>(name, anything);
}

std::optional<std::string> CheckedFields::text(std::string_view name, const TextRule& rule) {
  const auto value = take(name);
  if (!value) return std::nullopt;
  auto text = json_to_string(*value);
  if (!text || (text->empty() && !rule.may_be_empty)) {
    wrong(name, "must be a text, not " + excerpt(*value));
    return std::nullopt;
  }
  if (text->size() > rule.max_bytes) {
    wrong(name, fmt::format("must have at most {} bytes, not {}", rule.max_bytes, text->size()));
    return std::nullopt;
  }
  return text;
}

std::optional<std::string> CheckedFields::choice(std::string_view name,
                                                 const std::vector<std::string>& choices) {
  auto chosen = text(name);
  if (!chosen || std::find(choices.begin(), choices.end(), *chosen) != choices.end()) return chosen;
  wrong(name, "must be one of " + joined(choices) + ", not " + quote(*chosen));
  return std::nullopt;
}

std::optional<std::int64_t> CheckedFields::whole(std::string_view name, std::int64_t min,
                                                 std::int64_t max) {
  const auto value = take(name);
  if (!value) return std::nullopt;
  const auto number = json_to_int(*value);
  if (number && *number >= min && *number <= max) return number;
  wrong(name,
        fmt::format("must be a whole number from {} to {}, not {}", min, max, excerpt(*value)));
  return std::nullopt;
}

std::optional<double> CheckedFields::number(std::string_view name, double min, double max) {
  const auto value = take(name);
  if (!value) return std::nullopt;
  const auto number = json_to_double(*value);
  if (number && *number >= min && *number <= max) return number;
  wrong(name, fmt::format("must be a number from {} to {}, not {}", min, max, excerpt(*value)));
  return std::nullopt;
}

std::optional<bool> CheckedFields::flag(std::string_view name) {
  const auto value = take(name);
  if (!value) return std::nullopt;
  if (*value == "true" || *value == "false") return *value == "true";
  wrong(name, "must be true or false, not " + excerpt(*value));
  return std::nullopt;
}

std::vector<std::string> CheckedFields::texts(std::string_view name, std::size_t max_count) {
  const auto value = take(name);
  if (!value) return {};
  std::vector<std::string> texts;
  bool fine = value->starts_with('[');
  for (const RawJson element : json_elements(*value)) {
    auto text = json_to_string(element);
    fine = fine && text;
    texts.push_back(std::move(text).value_or(""));
  }
  if (!fine || texts.size() > max_count) {
    wrong(name,
          fmt::format("must be a list of at most {} texts, not {}", max_count, excerpt(*value)));
    return {};
  }
  return texts;
}

std::vector<std::pair<std::string, std::string>> CheckedFields::pairs(std::string_view name) {
  const auto value = object(name);
  if (!value) return {};
  std::vector<std::pair<std::string, std::string>> pairs;
  const JsonFields members(*value);
  for (const JsonFields::Field& member : members.others()) {
    auto text = json_to_string(member.value);
    if (!text) {
      wrong(std::string(name) + "." + member.name, "must be a text, not " + excerpt(member.value));
      continue;
    }
    pairs.emplace_back(member.name, std::move(*text));
  }
  return pairs;
}

std::optional<RawJson> CheckedFields::object(std::string_view name) {
  const auto value = take(name);
  if (!value || value->starts_with('{')) return value;
  wrong(name, "must be an object, not " + excerpt(*value));
  return std::nullopt;
}

std::vector<std::pair<std::string, Json>> CheckedFields::objects(std::string_view name) {
  const auto value = object(name);
  if (!value) return {};
  std::vector<std::pair<std::string, Json>> objects;
  const JsonFields members(*value);
  for (const JsonFields::Field& member : members.others()) {
    if (!member.value.starts_with('{')) {
      wrong(std::string(name) + "." + member.name,
            "must be an object, not " + excerpt(member.value));
      continue;
    }
    objects.emplace_back(member.name, Json::trusted(std::string(member.value)));
  }
  return objects;
}

void CheckedFields::wrong(std::string_view name, std::string reason) {
  problems_(path_of(name), std::move(reason));
}

std::string CheckedFields::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

}  // namespace skein
