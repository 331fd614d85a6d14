// Everything in a workspace that needs its user's trust, and what changed since it was given.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/settings.h"
#include "api/trust.h"
#include "api/unsigned_records.h"

namespace skein {

struct ReviewedDefinition {
  Definition definition;
  TrustState state = TrustState::kNew;
  std::vector<std::string> allowed_before;  // when it was last trusted; empty: never
};

struct TrustReview {
  std::string workspace;                        // canonical
  std::vector<ReviewedDefinition> definitions;  // by name
  std::vector<UnsignedRecord> records;          // of the store inside the workspace
  // Definitions that cannot be read, or that are wrong: they stay inactive whatever is trusted.
  std::vector<std::string> problems;

  // Those that are new or changed.
  std::vector<Definition> pending() const;
  // Whether there is anything to agree to.
  bool needs_trust() const { return !pending().empty() || !records.empty(); }
  // One SHA-256 over all definitions, trusted or not, and all records: what a person saw and agreed
  // to. The same on every machine that has the same files.
  std::string digest() const;
};

// Reads the configuration, the agents, and the files that they execute. Starts nothing.
Result<TrustReview> review_definitions(const Settings& settings,
                                       FolderOwner owner = FolderOwner::kUser);
// Only what one agent needs to run: it with its files, and the members of the configuration that
// would count. An agent that is trusted, or that there is none of, adds nothing.
Result<TrustReview> review_agent(const Settings& settings, std::string_view agent_id);
// All definitions, with the records of the store, if that is one whose records are signed. `owner`:
// whose signature they need.
Result<TrustReview> review_trust(const Settings& settings, FolderOwner owner = FolderOwner::kUser);

// Trusts and signs exactly what the review has. kConflict: a record changed since.
Result<void> grant_trust(const Settings& settings, const TrustReview& review,
                         FolderOwner owner = FolderOwner::kUser);

// Trusts everything that waits for trust, if `digest`, else SKEIN_TRUST, is that of the review.
// False: nobody named one, or nothing waits. kInvalid: `digest` is another one. A stale SKEIN_TRUST
// only adds a notice: the definitions stay inactive, and other commands work.
Result<bool> grant_by_digest(Settings& settings, const std::optional<std::string>& digest);

// One JSON object on one line.
std::string to_json(const TrustReview& review);
// For people: what would be allowed, a line each; with "+" and "-" where it changed.
std::string to_text(const TrustReview& review);

}  // namespace skein
