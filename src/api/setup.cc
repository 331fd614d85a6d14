#include "api/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "api/agent_trust.h"
#include "api/agents.h"
#include "api/hooks.h"
#include "api/keys.h"
#include "api/private_files.h"
#include "api/trust_review.h"
#include "core/file.h"
#include "core/find_program.h"
#include "core/http_client.h"
#include "core/json_fields.h"
#include "git/repository.h"
#include "skein/embedder.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

using State = SetupCheck::State;

constexpr std::uintmax_t kLittleRoom = std::uintmax_t{256} << 20;
constexpr std::size_t kMaxClientFile = std::size_t{16} << 20;

SetupCheck check_store(const Settings& settings) {
  const std::string url = without_password(settings.store_url);
  if (store_exists(settings.store_url)) return {"store", State::kFine, url, ""};
  return {"store", State::kOff, url + " is not there yet",
          "nothing; it is made when something is first written"};
}

SetupCheck check_room(const Settings& settings) {
  fs::path path = store_path(settings.store_url).value_or("");
  std::error_code error;
  if (path.empty()) return {"disk", State::kFine, "the store is elsewhere", ""};
  while (!path.empty() && !fs::exists(path, error) && path != path.parent_path()) {
    path = path.parent_path();
  }
  const fs::space_info space = fs::space(path.empty() ? fs::path(".") : path, error);
  if (error) return {"disk", State::kProblem, "cannot tell: " + error.message(), ""};
  const std::string room =
      fmt::format("{:.1f} GB free", static_cast<double>(space.available) / 1e9);
  if (space.available >= kLittleRoom) return {"disk", State::kFine, room, ""};
  return {"disk", State::kProblem, room,
          "make room: a full disk refuses writes, and loses nothing"};
}

// Whether the .gitignore in .skein lets nothing into git but itself and the configuration.
bool keeps_from_git(const fs::path& file) {
  const auto text = read_file(file.string(), std::size_t{64} << 10);
  if (!text || !*text) return true;  // written when the store is made
  bool ignores = false;
  std::istringstream lines(**text);
  for (std::string line; std::getline(lines, line);) {
    ignores = ignores || line == "*";
    if (line.starts_with('!') && line != "!.gitignore" && line != "!config.json") return false;
  }
  return ignores;
}

SetupCheck check_private(const Settings& settings) {
  const fs::path ignore = settings.workspace / ".skein" / ".gitignore";
  if (!keeps_from_git(ignore)) {
    return {"private", State::kProblem,
            ignore.string() + " lets git add conversations to the repository",
            "remove that file; Skein writes it anew"};
  }
  const ExposedFiles exposed = find_exposed_files(settings);
  if (exposed.paths.empty()) {
    return {"private", State::kFine, "nobody else can read what Skein keeps here", ""};
  }
  const std::size_t more = exposed.paths.size() - 1;
  const std::string what = fmt::format(
      "other users of this machine can {} {}{}", exposed.writable ? "change" : "read",
      exposed.paths.front().string(), more > 0 ? fmt::format(" and {} more", more) : "");
  return {"private", exposed.writable ? State::kProblem : State::kOff, what,
          "skein doctor --repair"};
}

SetupCheck check_git(const Settings& settings) {
  const auto git = find_program("git");
  if (!git) {
    return {"git", State::kOff, "git is not in PATH",
            "apt install git; without it checkpoints have no commits"};
  }
  const auto repository = Repository::find(settings.workspace.string());
  if (!repository) {
    return {"git", State::kProblem, repository.error().message,
            "git config --global --add safe.directory FOLDER, if it is yours"};
  }
  if (*repository) {
    const auto branch = (*repository)->branch();
    return {"git", State::kFine, *git + ", on " + (branch ? *branch : "no branch"), ""};
  }
  return {"git", State::kOff, *git + "; the workspace is no repository",
          "git init, if checkpoints should name commits"};
}

SetupCheck check_claude() {
  if (const auto file = find_program("claude")) return {"claude", State::kFine, *file, ""};
  return {"claude", State::kOff, "Claude Code is not in PATH",
          "nothing, unless you use it or the engine claude-code"};
}

SetupCheck check_hooks(const Settings& settings) {
  const auto planned = plan_hooks(settings, own_program());
  if (!planned) {
    return {"hooks", State::kProblem, planned.error().message, "fix the file"};
  }
  if (!planned->changes()) return {"hooks", State::kFine, planned->file.string(), ""};
  return {"hooks", State::kOff,
          "Claude Code does not call Skein in this workspace, or not all of it",
          "skein hook install"};
}

SetupCheck check_mcp(const Settings& settings) {
  const std::string file = (settings.workspace / ".mcp.json").string();
  const SetupCheck off{"mcp", State::kOff,
                       "Claude Code does not start Skein's tools in this workspace",
                       "skein mcp install claude-code"};
  const auto text = read_file(file, kMaxClientFile);
  if (!text || !*text) return off;
  const auto object = Json::parse_object(**text);
  if (!object) {
    return {"mcp", State::kProblem, file + ": " + object.error().message, "fix the file"};
  }
  JsonFields fields(object->text());
  const auto servers = fields.take_object("mcpServers");
  if (!servers || !JsonFields(*servers).take_object("skein")) return off;
  return {"mcp", State::kFine, file, ""};
}

SetupCheck check_models(const Settings& settings) {
  const auto opened = open_embedder(settings.embedder);
  if (!opened) {
    return {"recall", State::kProblem, opened.error().message,
            "docs/recall.md says where models come from; --embedder none searches by words"};
  }
  if (opened->embedder) return {"recall", State::kFine, opened->embedder->model(), ""};
  const std::string why = opened->notes.empty() ? "no model was chosen" : opened->notes.front();
  return {"recall", State::kOff, "search is by words alone: " + why,
          "tools/setup downloads the models"};
}

// What an agent needs that is not there; empty: nothing.
std::string missing_for(const AgentDefinition& agent) {
  JsonFields options(agent.options.empty() ? "{}" : agent.options.text());
  const auto variable = options.take_string("keyVariable");
  const bool own_url = options.take_string("baseUrl").has_value();
  std::string key = variable.value_or("");
  if (key.empty() && !own_url && agent.engine == "anthropic") key = "ANTHROPIC_API_KEY";
  if (key.empty() && !own_url && agent.engine == "openai") key = "OPENAI_API_KEY";
  if (!key.empty() && std::getenv(key.c_str()) == nullptr) return "the variable " + key;
  if (agent.engine == "claude-code") {
    const std::string program = options.take_string("program").value_or("claude");
    if (!find_program(program)) return "the program " + program;
  }
  for (const ToolServer& server : agent.capabilities.servers) {
    if (const auto resolved = resolve_server(server); !resolved) return resolved.error().message;
    if (!server.command.empty() && !find_program(server.command.front())) {
      return "the program " + server.command.front();
    }
  }
  return "";
}

std::vector<SetupCheck> check_agents(const Settings& settings) {
  const Agents agents = workspace_agents(settings);
  std::vector<SetupCheck> checks;
  for (const AgentProblem& problem : agents.problems()) {
    checks.push_back({"agent", State::kProblem, problem.str(), "skein agent check"});
  }
  for (const auto& [id, agent] : agents.all()) {
    const std::string missing = missing_for(agent);
    if (missing.empty()) continue;
    checks.push_back({"agent", State::kProblem, id + " needs " + missing,
                      "set or install it where runs are started"});
  }
  if (checks.empty()) {
    const auto runnable = std::ranges::count_if(
        agents.all(), [&](const auto& agent) { return is_runnable(settings, agent.second); });
    const std::size_t untrusted = agents.all().size() - static_cast<std::size_t>(runnable);
    checks.push_back({"agents", State::kFine,
                      fmt::format("{} can be run", runnable) +
                          (untrusted > 0 ? fmt::format(", {} need trust", untrusted) : ""),
                      ""});
  }
  return checks;
}

SetupCheck check_trust(const Settings& settings) {
  if (settings.trust == nullptr) return {"trust", State::kFine, "everything is trusted", ""};
  const auto review = review_definitions(settings);
  if (!review) return {"trust", State::kProblem, review.error().message, "fix or remove the file"};
  std::string names;
  for (const Definition& definition : review->pending()) {
    names += (names.empty() ? "" : ", ") + definition.name;
  }
  if (!names.empty()) {
    return {"trust", State::kOff, "not trusted and inactive: " + names, "skein trust"};
  }
  return {"trust", State::kFine, fmt::format("{} definitions", review->definitions.size()), ""};
}

// How many keys of the store are good; nothing: it cannot be told.
std::optional<std::size_t> good_keys(const Settings& settings) {
  if (!store_exists(settings.store_url)) return 0;
  const auto store = open_settled_store(settings, IfMissing::kRefuse);
  if (!store) return std::nullopt;
  const auto keys = ApiKeys(**store, system_clock(), random_ids(), settings.signer).list();
  if (!keys) return std::nullopt;
  return static_cast<std::size_t>(std::count_if(keys->begin(), keys->end(), [](const ApiKey& key) {
    return !key.revoked_at.is_set() && key.is_signed;
  }));
}

SetupCheck check_server(const Settings& settings) {
  JsonFields options(settings.server.empty() ? "{}" : settings.server.text());
  const std::string address = options.take_string("address").value_or("127.0.0.1");
  const std::string place = fmt::format("{}:{}", address, options.take_int("port").value_or(7171));
  const auto keys = good_keys(settings);
  const std::string known = keys ? fmt::format("{} keys", *keys) : "the store cannot be opened";
  const bool loopback = address.starts_with("127.") || address == "::1";
  if (!loopback && keys == std::size_t{0}) {
    return {"serve", State::kProblem, place + " can be reached by others, and there is no key",
            "skein key create --access admin"};
  }
  HttpRequest request;
  request.url = "http://" + place + "/healthz";
  request.connect_timeout = std::chrono::milliseconds(1000);
  request.total_timeout = std::chrono::milliseconds(3000);
  const auto answer = HttpClient().send(request);
  if (!answer) {
    return {"serve", State::kOff, fmt::format("nobody answers at {}; {}", place, known),
            "skein serve, if applications or a page are to use this workspace"};
  }
  if (answer->status == 200 && answer->body.find("\"ok\"") != std::string::npos) {
    return {"serve", State::kFine, fmt::format("{} answers; {}", place, known), ""};
  }
  return {"serve", State::kProblem, "another program has " + place, "skein serve --port PORT"};
}

}  // namespace

const char* to_string(SetupCheck::State state) {
  switch (state) {
    case State::kFine:
      return "fine";
    case State::kOff:
      return "off";
    case State::kProblem:
      return "problem";
  }
  return "";
}

std::vector<SetupCheck> check_setup(const Settings& settings) {
  std::vector<SetupCheck> checks = {check_store(settings),   check_room(settings),
                                    check_private(settings), check_git(settings),
                                    check_claude(),          check_hooks(settings),
                                    check_mcp(settings),     check_models(settings),
                                    check_server(settings),  check_trust(settings)};
  for (SetupCheck& check : check_agents(settings)) checks.push_back(std::move(check));
  return checks;
}

}  // namespace skein
