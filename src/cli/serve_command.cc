#include <fmt/format.h>

#include <csignal>

#include "api/trust_review.h"
#include "cli/arguments.h"
#include "cli/ask_for_trust.h"
#include "cli/context.h"
#include "cli/stop_on_signal.h"
#include "core/json_object.h"
#include "core/memory.h"
#include "core/own_folder.h"
#include "core/pause.h"
#include "core/quote.h"
#include "core/try.h"
#include "http/server.h"

namespace skein {
namespace {

// What the store mends in passing, among the other lines of the log.
void log_finding(const Finding& finding) {
  JsonObject line;
  line.add("at", system_clock().now().str()).add("message", mended_utf8(finding.what));
  if (finding.thread) line.add("thread", finding.thread->str());
  if (finding.seq > 0) line.add("event", finding.seq);
  if (finding.repaired) line.add("repaired", true);
  print_line_to_stderr(line.str());
}

void log_notice(const std::string& message) {
  JsonObject line;
  line.add("at", system_clock().now().str()).add("message", mended_utf8(message));
  print_line_to_stderr(line.str());
}

// What the workspace defines and may not do, as one line of the log. Records are logged by the
// server itself.
void log_untrusted(const Settings& settings) {
  const auto review = review_definitions(settings);
  if (!review) return log_notice(review.error().message);
  std::string names;
  for (const Definition& definition : review->pending()) {
    names += (names.empty() ? "" : ", ") + definition.name;
  }
  if (!names.empty()) log_notice("not trusted and inactive: " + names + "; " + how_to_trust());
}

class Serve : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "serve",
            .summary = "serve the workspace over HTTP: REST, streams, LangGraph clients, MCP",
            .examples =
                "  skein serve\n"
                "  skein serve --port 8080\n"
                "  skein serve --config /etc/skein.json --address 0.0.0.0\n",
            .details =
                "Listens on 127.0.0.1 port 7171, where it is open to everybody on this machine "
                "until the first key is made\n(skein key create). Any other address needs keys. "
                "Also indexes messages as they arrive, and runs what triggers\nsay. Ctrl-C or "
                "SIGTERM stops it: streams are told, runs get some seconds to end and are then "
                "interrupted.\nLimits and names are in the \"server\" object of the user's "
                "configuration ($XDG_CONFIG_HOME/skein/config.json, else\n/etc/skein/config.json) "
                "or of --config FILE, never in that of the workspace (docs/server.md). Logs are "
                "lines\nof JSON on standard error."};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "--address",
             .value_name = "IP",
             .help = "where to listen (SKEIN_ADDRESS; default 127.0.0.1)",
             .set = into(address_)},
            {.names = "--port",
             .value_name = "PORT",
             .help = "default 7171; 0: any that is free (SKEIN_PORT)",
             .set = into(port_)},
            {.names = "--host",
             .value_name = "NAME",
             .help = "a host name that clients may use, besides the address (SKEIN_HOSTS)",
             .set = into(hosts_),
             .repeated = true},
            {.names = "--origin",
             .value_name = "ORIGIN",
             .help = "an origin whose pages may call the server (SKEIN_ORIGINS)",
             .set = into(origins_),
             .repeated = true},
            {.names = "--audit-file",
             .value_name = "FILE",
             .help = "where to log writes (SKEIN_AUDIT_FILE; default WORKSPACE/.skein/audit.log)",
             .set = into(audit_file_),
             .is_path = true},
            {.names = "--conformance-fixtures",
             .help = "also what the conformance suites of MCP call",
             .set = into(mcp_fixtures_),
             .hidden = true}};
  }

  Outcome run(Context& context) override {
    context.set_notice(log_notice);
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, settings_for_all_agents(context));
    log_untrusted(settings);
    SKEIN_ASSIGN_OR_FAIL(auto options, server_options(settings));
    const bool own_audit_file = options.audit_file.empty();
    if (own_audit_file) {
      options.audit_file = (settings.workspace / ".skein" / "audit.log").string();
    }
    std::signal(SIGPIPE, SIG_IGN);
    give_memory_back_always();
    SKEIN_ASSIGN_OR_FAIL(const auto store,
                         context.open(IfMissing::kCreate, {.notice = log_finding}));
    Flusher flusher;
    if (own_audit_file) {
      SKEIN_TRY(make_own_folder(settings.workspace.string(), flusher));
    } else {
      SKEIN_TRY(make_folders(parent_folder(options.audit_file), flusher));
    }

    const StopOnSignal stop;
    http::Server::Parts parts;
    parts.settings = settings;
    parts.options = std::move(options);
    parts.log = [](std::string_view line) { print_line_to_stderr(line); };
    parts.background = true;
    parts.mcp_fixtures = mcp_fixtures_;
    SKEIN_ASSIGN(const auto server, http::Server::start(*store, std::move(parts)));
    announce(context, settings, *server);
    SKEIN_TRY(context.out().flush());
    while (pause_for(std::chrono::hours(1), stop.token())) {
    }
    server->stop();
    return kExitDone;
  }

 private:
  // Flags, then the environment, then the user's configuration.
  tl::expected<http::ServerOptions, Failure> server_options(const Settings& settings) const {
    auto read = http::read_server_options(settings.server);
    if (!read) return wrong_usage("configuration: " + read.error().message);
    if (auto taken = http::take_server_environment(*read); !taken) {
      return wrong_usage(taken.error().message);
    }
    http::ServerOptions options = std::move(*read);
    if (address_) options.address = *address_;
    if (port_ && *port_ > 65'535) return wrong_usage("a port is at most 65535");
    if (port_) options.port = static_cast<std::uint16_t>(*port_);
    if (!hosts_.empty()) options.hosts = hosts_;
    if (!origins_.empty()) options.origins = origins_;
    if (audit_file_) options.audit_file = *audit_file_;
    if (auto good = http::check_server_options(options); !good) {
      return wrong_usage(good.error().message);
    }
    return options;
  }

  static void announce(Context& context, const Settings& settings, const http::Server& server) {
    const std::string store = printable(without_password(settings.store_url));
    if (context.json()) {
      context.out().write(JsonObject()
                              .add("url", server.url())
                              .add("port", static_cast<std::uint64_t>(server.port()))
                              .add("store", store)
                              .str() +
                          "\n");
      return;
    }
    context.out().write(
        fmt::format("Skein serves {}\n\n"
                    "  {}/            what there is to see\n"
                    "  {}/openapi.json  every route\n"
                    "  {}/readyz      whether it is ready\n\n"
                    "Stop it with Ctrl-C.\n",
                    store, server.url(), server.url(), server.url()));
  }

  std::optional<std::string> address_;
  std::optional<std::uint64_t> port_;
  std::vector<std::string> hosts_;
  std::vector<std::string> origins_;
  std::optional<std::string> audit_file_;
  bool mcp_fixtures_ = false;
};

}  // namespace

CommandGroup serve_commands() {
  CommandGroup group{"", "", {}};
  group.commands.push_back(std::make_unique<Serve>());
  return group;
}

}  // namespace skein
