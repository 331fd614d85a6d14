#include "api/unsigned_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "api/signing_secret.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/quote.h"
#include "core/sha256.h"
#include "core/try.h"
#include "runner/run_book.h"
#include "runner/run_codec.h"
#include "skein/limits.h"
#include "store/find_record.h"
#include "store/record_access.h"

namespace skein {
namespace {

constexpr std::string_view kKeys = "keys";
constexpr std::string_view kTriggers = "triggers";
constexpr std::string_view kTasks = "tasks";
constexpr std::string_view kRuns = "runs";
constexpr std::string_view kOpenRuns = "runs_open";

// Whole: what is cut off would be signed unseen.
std::string whole(std::string_view text) { return quote(text, std::string_view::npos); }

std::string shown(JsonFields& fields, std::string_view name) {
  return whole(fields.take_string(name).value_or(""));
}

std::optional<RawJson> any(RawJson value) { return value; }

// ` with NAME {…}`, for what is there.
std::string shown_json(JsonFields& fields, std::string_view name, std::string_view words) {
  const auto value = fields.take(name, any);
  return value ? fmt::format(", {} {}", words, whole(plain_json(*value))) : "";
}

// Fields that Skein writes into a record of that collection and that make it do nothing else.
using PassiveFields = std::set<std::string_view>;

// What no description names, whole: a signature covers it, too.
std::string shown_rest(const JsonFields& fields, const PassiveFields& passive) {
  std::string text;
  for (const JsonFields::Field& field : fields.others()) {
    if (field.name == "hmac" || passive.contains(field.name)) continue;
    text += fmt::format(", {} {}", whole(field.name), whole(plain_json(field.value)));
  }
  return text;
}

// Nothing, of all of these: it has no effect, signed or not.
std::optional<std::string> describe_key(const Record& record, JsonFields& fields) {
  if (fields.take_time("revokedAt")) return std::nullopt;
  const auto agents = fields.take_strings("agents").value_or(std::vector<std::string>{});
  std::vector<std::string> names;
  for (const std::string& agent : agents) names.push_back(whole(agent));
  return fmt::format("API key {} named {}: gives {} access to {}", whole(record.key),
                     shown(fields, "name"), shown(fields, "access"),
                     names.empty() ? "all agents" : fmt::format("{}", fmt::join(names, ", ")));
}

std::optional<std::string> describe_trigger(const Record& record, JsonFields& fields) {
  return fmt::format("trigger {} named {}: runs agent {} at {} ({}) with the text {}{}",
                     whole(record.key), shown(fields, "name"), shown(fields, "agentId"),
                     shown(fields, "cron"), shown(fields, "zone"), shown(fields, "text"),
                     shown_json(fields, "kwargs", "options"));
}

std::optional<std::string> describe_task(const Record& record, JsonFields& fields) {
  if (fields.take_time("cancelledAt")) return std::nullopt;
  return fmt::format(
      "task {} titled {}: agent {} works on thread {} with the text {}{}{}{}", whole(record.key),
      shown(fields, "title"), shown(fields, "agentId"), shown(fields, "threadId"),
      shown(fields, "text"), shown_json(fields, "steps", "steps"),
      shown_json(fields, "parentTaskId", "part of"), shown_json(fields, "owner", "owner"));
}

std::optional<std::string> describe_open(const Record& /*record*/, JsonFields& fields) {
  const std::string state = fields.take_string("state").value_or("");
  const std::string_view meaning = state == "question"  ? "can be answered and then goes on"
                                   : state == "effects" ? "gets its title and its index entries"
                                                        : "is closed when its process is gone";
  return fmt::format("open run {} (state {}): {}", shown(fields, "runId"), whole(state), meaning);
}

std::optional<std::string> describe_run(const Record& /*record*/, JsonFields& fields) {
  std::string text = fmt::format("run {} of agent {}, status {}", shown(fields, "runId"),
                                 shown(fields, "agentId"), shown(fields, "status"));
  if (const auto question = fields.take_object("question")) {
    JsonFields asked(*question);
    for (const RawJson element : json_elements(asked.take("calls", any).value_or("[]"))) {
      JsonFields call(element);
      text += fmt::format(": asks to call tool {}{}", shown(call, "name"),
                          shown_json(call, "input", "input"));
    }
  }
  for (const std::string& effect :
       fields.take_strings("effects").value_or(std::vector<std::string>{})) {
    text += ", effect " + whole(effect);
  }
  return text;
}

using Describe = std::optional<std::string> (*)(const Record& record, JsonFields& fields);

struct Collection {
  std::string_view name;
  Describe describe;
  PassiveFields passive;
};

const std::array<Collection, 5>& collections() {
  static const std::array<Collection, 5> kCollections = {
      {{kKeys, describe_key, {"id", "createdAt", "hash"}},
       {kTriggers, describe_trigger, {"id", "createdAt"}},
       {kTasks, describe_task, {"id", "createdAt", "updatedAt"}},
       {kOpenRuns, describe_open, {"token", "process", "untilMs"}},
       {kRuns, describe_run, {"createdAt", "startedAt", "endedAt", "usage"}}}};
  return kCollections;
}

std::string digest_of(std::string_view collection, const Record& record) {
  Sha256 sum;
  for (const std::string_view part :
       {collection, std::string_view(record.key), std::string_view(record.bytes)}) {
    sum.add(std::to_string(part.size()) + ":");
    sum.add(part);
  }
  return sum.hex();
}

std::string digest_of(std::span<const UnsignedRecord> records) {
  Sha256 sum;
  for (const UnsignedRecord& record : records) sum.add(record.digest);
  return sum.hex();
}

class Listing {
 public:
  // Without a signer, no record is signed.
  Listing(Store& store, const RecordSigner* signer) : store_(store), signer_(signer) {}

  Result<std::vector<UnsignedRecord>> run() {
    for (const Collection& collection : collections()) {
      if (collection.name == kRuns) continue;  // few of them are open; those are found below
      SKEIN_TRY(scan_prefix(store_, collection.name, "", [&](const Record& record) {
        add(collection, record);
        if (collection.name == kOpenRuns) note_run(record);
        return true;
      }));
    }
    for (const std::string& key : runs_) {
      SKEIN_ASSIGN(const auto record, find_record(store_, kRuns, key));
      const auto run = record ? parse_run(record->bytes) : fail(ErrorCode::kNotFound, "");
      if (run && is_open(*run)) add(collections().back(), *record);
    }
    return std::move(found_);
  }

 private:
  void add(const Collection& collection, const Record& record) {
    if (signer_ != nullptr && signer_->verifies(collection.name, record.key, record.bytes)) return;
    if (!validate_json(record.bytes, "record", kMaxDocumentDepth + 1)) return;
    JsonFields fields(record.bytes);
    auto description = collection.describe(record, fields);
    if (!description) return;
    *description += shown_rest(fields, collection.passive);
    found_.push_back({.collection = std::string(collection.name),
                      .key = record.key,
                      .bytes = record.bytes,
                      .version = record.version,
                      .description = std::move(*description),
                      .digest = digest_of(collection.name, record)});
  }

  // The record of an open run has what the run does; its entry only says that it is open.
  void note_run(const Record& entry) {
    if (!validate_json(entry.bytes, "record")) return;
    const std::string run_id = JsonFields(entry.bytes).take_string("runId").value_or("");
    if (const auto thread = thread_of_run(run_id)) runs_.insert(thread->str() + "/" + run_id);
  }

  Store& store_;
  const RecordSigner* const signer_;
  std::set<std::string> runs_;  // keys of the records of open runs
  std::vector<UnsignedRecord> found_;
};

}  // namespace

bool is_signed_collection(std::string_view collection) {
  return std::ranges::any_of(collections(),
                             [&](const Collection& known) { return known.name == collection; });
}

Result<std::vector<UnsignedRecord>> list_unsigned_records(Store& store,
                                                          const RecordSigner& signer) {
  return Listing(store, &signer).run();
}

Result<void> sign_records(Store& store, const RecordSigner& signer,
                          std::span<const UnsignedRecord> records) {
  while (!records.empty()) {
    const auto batch = records.first(std::min(records.size(), limits::kMaxBatch));
    std::vector<RecordWrite> writes;
    for (const UnsignedRecord& record : batch) {
      SKEIN_ASSIGN(RecordWrite write, put_signed(&signer, record.collection, record.key,
                                                 record.bytes, record.version));
      writes.push_back(std::move(write));
    }
    const auto written = store.write(writes);
    if (!written && written.error().code == ErrorCode::kConflict) {
      return fail(ErrorCode::kConflict,
                  "a record changed since it was listed; list the records again");
    }
    SKEIN_TRY(written);
    records = records.subspan(batch.size());
  }
  return {};
}

Result<std::vector<UnsignedRecord>> copied_unsigned(const Settings& settings,
                                                    const std::string& from_url, Store& from,
                                                    const std::string& to_url) {
  if (signer_of_store(settings, to_url) != nullptr) return std::vector<UnsignedRecord>{};
  // To open a server is the decision that its records count.
  if (!store_path(from_url)) return std::vector<UnsignedRecord>{};
  Settings source = settings;
  source.workspace = workspace_of_store(settings, from_url).value_or(settings.workspace);
  return Listing(from, signer_of_store(source, from_url).get()).run();
}

Result<void> check_copied_records(const Settings& settings, const std::string& from_url,
                                  const std::string& to_url,
                                  std::span<const UnsignedRecord> records,
                                  const std::optional<std::string>& agreed) {
  if (records.empty()) return {};
  const auto workspace = workspace_of_store(settings, from_url);
  std::string what = fmt::format(
      "{} API keys, triggers, tasks or open runs of {} are not signed, and would take effect in "
      "{}, "
      "where nothing needs a signature; nothing was copied. ",
      records.size(), from_url, without_password(to_url));
  if (!workspace) {
    const std::string digest = digest_of(records);
    if (agreed == digest) return {};
    return fail(ErrorCode::kInvalid,
                what + fmt::format("Review them, and copy them with --with-records={}, or remove "
                                   "them",
                                   digest));
  }
  const std::string command =
      *workspace == settings.workspace
          ? trust_command(settings, from_url)
          : fmt::format("skein --workspace {} --store {} trust", shell_quoted(workspace->string()),
                        shell_quoted(from_url));
  return fail(
      ErrorCode::kInvalid,
      what + fmt::format("Run \"{}\" to review and sign them first, or remove them", command));
}

std::string trust_command(const Settings& settings, const std::string& store_url) {
  if (store_url == settings.store_url) return "skein trust";
  return "skein --store " + shell_quoted(without_password(store_url)) + " trust";
}

}  // namespace skein
