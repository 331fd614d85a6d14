// Which workspace, which store, which agent: settled once, before anything is opened.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/trust.h"
#include "core/redact.h"
#include "skein/checkpoints.h"
#include "skein/error.h"
#include "skein/json.h"
#include "skein/record_signer.h"
#include "skein/store.h"
#include "skein/thread_manager.h"

namespace skein {

// What the command line asks for.
struct SettingsRequest {
  std::optional<std::string> store;
  std::optional<std::string> workspace;
  std::optional<std::string> config;
  // The digest of the definitions that the caller agreed to (skein trust --print), else
  // SKEIN_TRUST.
  std::optional<std::string> trust;
  // Where the workspace is looked for when none is named; absent: the working directory.
  std::optional<std::string> start;
  // Called with the workspace when its .skein/ is made and nobody had named it; may be empty.
  std::function<void(const std::filesystem::path& workspace)> made;
};

struct Settings {
  std::filesystem::path workspace;  // absolute
  // The linked worktree of the workspace's repository that one stands in; empty: the workspace.
  std::filesystem::path checkout;
  std::string store_url;
  std::string default_agent;
  std::vector<ActiveLimit> active_limits;
  // Whose state checkpoints record.
  std::vector<CheckpointsOptions::KnowledgeRepo> knowledge_repos;
  std::string embedder;                // which model makes vectors, as open_embedder takes it
  std::optional<std::string> project;  // of the workspace, where the configuration names it
  Json agents;  // definitions in the configuration, an object by id (api/agents.h); or absent
  Json server;  // how `skein serve` is set up (http/options.h), an object; or absent
  std::vector<RedactionRule> redaction_rules;        // besides the built-in ones
  std::vector<std::string> redaction_without;        // built-in ones that are not wanted
  std::filesystem::path redaction_file{};            // where those stand; empty: nowhere
  std::optional<std::filesystem::path> config_file;  // the one that was read
  // Signs and verifies the records that make Skein act. None: the store is outside the workspace,
  // or a server that the user chose, and its records count as they are.
  std::shared_ptr<const RecordSigner> signer{};

  // What the user trusts in this workspace. None: everything (programs that embed the library).
  std::shared_ptr<Trust> trust{};
  // The members of the workspace's configuration that need trust.
  std::vector<Definition> config_definitions{};
  // The store that the workspace's configuration names, while it is not trusted: no store is opened
  // then, and none takes its place.
  std::optional<std::string> untrusted_store{};
  bool store_from_workspace = false;  // store_url stands in the workspace's configuration
  bool untrusted_redaction = false;   // "redact" of the workspace is not trusted, and ignored
  // The program `skein` that runs, so that engines can start it as a server of tools. Empty:
  // another program embeds the library.
  std::string program{};
  bool config_is_explicit = false;  // config_file was named with --config, and counts as a flag
  std::optional<std::filesystem::path> user_config_file{};  // the one that was read
  std::vector<std::string> notices{};  // for people, on standard error, a line each
};

// The workspace is the one asked for, else the one that find_workspace finds
// (api/workspace_detection.h); kInvalid when it may not be used.
//
// Flags win over the environment (SKEIN_STORE, SKEIN_WORKSPACE, SKEIN_EMBEDDER), that over the
// workspace's configuration, that over the user's ($XDG_CONFIG_HOME/skein/config.json, else
// /etc/skein/config.json), and that over the defaults. The workspace's is
// WORKSPACE/.skein/config.json if there is one; its members "store", "embedder", "redact" and
// "knowledgeRepos" count only when they are trusted, and "server" never does. A file that is named
// with --config takes its place, and counts as a whole.
//
// A configuration is a JSON object with any of "store", "defaultAgent", "embedder", "project",
// "maxActiveThreads" (an object: a key of threads' metadata, and how many may be active with the
// same value of it), "knowledgeRepos" (an object: names, and folders from the workspace), "agents"
// and "server" (objects: ids, and definitions; options; which are not validated here) and "redact"
// (an object: names of rules, and regular expressions, or false for a built-in rule that is
// disabled); anything else in it is kInvalid, naming file, field and reason. A relative path in its
// "store" starts from the workspace, one from elsewhere from the working directory.
Result<Settings> resolve_settings(const SettingsRequest& request);

enum class IfMissing { kCreate, kRefuse };

// kInvalid: the workspace's configuration names a store that is not trusted.
Result<void> check_store_trust(const Settings& settings);

// Opens the store of the settings. kInvalid: check_store_trust(). kRefuse: kNotFound when its file
// or folder does not exist, and none is made.
Result<std::unique_ptr<Store>> open_settled_store(const Settings& settings, IfMissing if_missing,
                                                  StoreOptions options = {});

// The redactor of the settings. kInvalid names the configuration, the rule, and what is wrong.
Result<Redactor> settled_redactor(const Settings& settings);

// The file or folder that a store's URL names; nothing for stores that are elsewhere.
std::optional<std::string_view> store_path(std::string_view url);

// The URL as it may be shown: what it says of passwords is left out.
std::string without_password(const std::string& url);

// Whether there is anything to open behind the URL.
bool store_exists(const std::string& url);

}  // namespace skein
