#include "api/trust_review.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "api/agent_trust.h"
#include "api/agents.h"
#include "api/signing_secret.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/sha256.h"
#include "core/try.h"

namespace skein {
namespace {

const char* to_string(TrustState state) {
  switch (state) {
    case TrustState::kTrusted:
      return "trusted";
    case TrustState::kNew:
      return "new";
    case TrustState::kChanged:
      return "changed";
  }
  return "";
}

// Two agents may execute the same file.
bool by_name(const Definition& a, const Definition& b) { return a.name < b.name; }
bool same_name(const Definition& a, const Definition& b) { return a.name == b.name; }

// What cannot be read goes to `problems`: it is inactive, and keeps nothing else from being
// reviewed.
std::vector<Definition> all_definitions(const Settings& settings, const Agents& agents,
                                        std::vector<std::string>& problems) {
  std::vector<Definition> definitions = settings.config_definitions;
  ReadingBudget budget;
  for (const auto& [id, agent] : agents.all()) {
    if (settings.config_is_explicit && agent.file == settings.config_file->string()) continue;
    auto of_agent = agent_definitions(agent, settings.trust->workspace(), budget);
    if (of_agent) {
      std::move(of_agent->begin(), of_agent->end(), std::back_inserter(definitions));
    } else {
      problems.push_back(of_agent.error().message);
    }
  }
  std::sort(definitions.begin(), definitions.end(), by_name);
  definitions.erase(std::unique(definitions.begin(), definitions.end(), same_name),
                    definitions.end());
  return definitions;
}

Result<void> add_reviewed(Trust& trust, std::vector<Definition> definitions, FolderOwner owner,
                          TrustReview& review) {
  SKEIN_ASSIGN(const WorkspaceGrants granted, trust.all(owner));
  for (Definition& definition : definitions) {
    ReviewedDefinition reviewed;
    SKEIN_ASSIGN(reviewed.state, trust.state(definition.name, definition.digest, owner));
    if (const auto found = granted.find(definition.name); found != granted.end()) {
      reviewed.allowed_before = found->second.allows;
    }
    reviewed.definition = std::move(definition);
    review.definitions.push_back(std::move(reviewed));
  }
  return {};
}

std::shared_ptr<const RecordSigner> signer_for(const Settings& settings, FolderOwner owner) {
  if (owner == FolderOwner::kUser) return settings.signer;
  return signer_of_store(settings, settings.store_url, owner);
}

// Names come from the workspace: a line feed in one must not make up further lines.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == '\t') {
      line += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      line += c;
    }
  }
  return line;
}

void add_changes(const ReviewedDefinition& reviewed, std::string& text) {
  const auto& now = reviewed.definition.allows;
  const auto& before = reviewed.allowed_before;
  const auto has = [](const std::vector<std::string>& lines, const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  const bool changed = reviewed.state == TrustState::kChanged;
  for (const std::string& line : before) {
    if (changed && !has(now, line)) text += "  - " + one_line(line) + "\n";
  }
  for (const std::string& line : now) {
    text += (changed && !has(before, line) ? "  + " : "    ") + one_line(line) + "\n";
  }
  if (changed && now == before) {
    text += "    (allows the same as before; the content of the file changed)\n";
  }
}

}  // namespace

std::vector<Definition> TrustReview::pending() const {
  std::vector<Definition> pending;
  for (const ReviewedDefinition& reviewed : definitions) {
    if (reviewed.state != TrustState::kTrusted) pending.push_back(reviewed.definition);
  }
  return pending;
}

std::string TrustReview::digest() const {
  Sha256 digest;
  for (const ReviewedDefinition& reviewed : definitions) {
    digest.add(reviewed.definition.name);
    digest.add(std::string_view("\0", 1));
    digest.add(reviewed.definition.digest);
  }
  for (const UnsignedRecord& record : records) digest.add(record.digest);
  return digest.hex();
}

Result<TrustReview> review_definitions(const Settings& settings, FolderOwner owner) {
  TrustReview review;
  review.workspace = settings.trust->workspace();
  const Agents agents = workspace_agents(settings);
  for (const AgentProblem& problem : agents.problems()) review.problems.push_back(problem.str());
  SKEIN_TRY(add_reviewed(*settings.trust, all_definitions(settings, agents, review.problems), owner,
                         review));
  return review;
}

Result<TrustReview> review_agent(const Settings& settings, std::string_view agent_id) {
  TrustReview review;
  review.workspace = settings.trust->workspace();
  std::vector<Definition> definitions = settings.config_definitions;
  // Where another store is named, that of the configuration is not opened.
  if (!settings.untrusted_store) {
    std::erase_if(definitions,
                  [](const Definition& definition) { return definition.name == "config:store"; });
  }
  const auto agent = workspace_agents(settings).get(agent_id);
  if (agent && !check_agent_trust(settings, *agent)) {
    auto of_agent = agent_definitions(*agent, settings.trust->workspace());
    if (of_agent) {
      std::move(of_agent->begin(), of_agent->end(), std::back_inserter(definitions));
    } else {
      review.problems.push_back(of_agent.error().message);
    }
  }
  SKEIN_TRY(add_reviewed(*settings.trust, std::move(definitions), FolderOwner::kUser, review));
  return review;
}

Result<TrustReview> review_trust(const Settings& settings, FolderOwner owner) {
  SKEIN_ASSIGN(TrustReview review, review_definitions(settings, owner));
  if (settings.signer == nullptr || settings.untrusted_store) return review;
  if (!store_exists(settings.store_url)) return review;
  SKEIN_ASSIGN(const auto store, open_settled_store(settings, IfMissing::kRefuse));
  SKEIN_ASSIGN(review.records, list_unsigned_records(*store, *signer_for(settings, owner)));
  return review;
}

Result<void> grant_trust(const Settings& settings, const TrustReview& review, FolderOwner owner) {
  if (const auto pending = review.pending(); !pending.empty()) {
    SKEIN_TRY(settings.trust->grant(pending, owner));
  }
  if (review.records.empty()) return {};
  SKEIN_ASSIGN(const auto store, open_settled_store(settings, IfMissing::kRefuse));
  return sign_records(*store, *signer_for(settings, owner), review.records);
}

Result<bool> grant_by_digest(Settings& settings, const std::optional<std::string>& digest) {
  const char* variable = std::getenv("SKEIN_TRUST");
  const std::string wanted = digest.value_or(variable != nullptr ? variable : "");
  if (wanted.empty() || settings.trust == nullptr) return false;
  SKEIN_ASSIGN(const TrustReview review, review_trust(settings));
  if (!review.needs_trust()) return false;
  if (wanted == review.digest()) {
    SKEIN_TRY(grant_trust(settings, review));
    return true;
  }
  std::string message = fmt::format(
      "{} is {}, and what needs trust in {} has the digest {}; \"skein trust --print\" "
      "shows what it allows",
      digest ? "--trust" : "SKEIN_TRUST", quote(wanted), review.workspace, review.digest());
  if (digest) return fail(ErrorCode::kInvalid, std::move(message));
  settings.notices.push_back(std::move(message));
  return false;
}

std::string to_json(const TrustReview& review) {
  std::vector<std::string> objects;
  for (const ReviewedDefinition& reviewed : review.definitions) {
    objects.push_back(JsonObject()
                          .add("name", reviewed.definition.name)
                          .add("state", to_string(reviewed.state))
                          .add("file", reviewed.definition.file)
                          .add("digest", reviewed.definition.digest)
                          .add("allows", reviewed.definition.allows)
                          .str());
  }
  std::vector<std::string> records;
  for (const UnsignedRecord& record : review.records) {
    records.push_back(JsonObject()
                          .add("collection", record.collection)
                          .add("key", record.key)
                          .add("digest", record.digest)
                          .add("description", record.description)
                          .str());
  }
  return JsonObject()
      .add("workspace", review.workspace)
      .add("digest", review.digest())
      .add_json("definitions", json_array_of(objects))
      .add_json("records", json_array_of(records))
      .add("problems", review.problems)
      .str();
}

std::string to_text(const TrustReview& review) {
  std::string text;
  for (const ReviewedDefinition& reviewed : review.definitions) {
    if (reviewed.state == TrustState::kTrusted) continue;
    text += fmt::format("{} ({}, {})\n", one_line(reviewed.definition.name),
                        to_string(reviewed.state), one_line(reviewed.definition.file));
    add_changes(reviewed, text);
  }
  for (const UnsignedRecord& record : review.records) {
    text += fmt::format("record {}/{} (not signed)\n    {}\n", record.collection,
                        one_line(record.key), one_line(record.description));
  }
  for (const std::string& problem : review.problems)
    text += "cannot be used: " + one_line(problem) + "\n";
  return text;
}

}  // namespace skein
