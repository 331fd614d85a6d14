#include "bench/mcp_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/file.h"
#include "core/subprocess.h"
#include "core/try.h"
#include "skein/store.h"

namespace skein::bench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr double kCallsGoal = 20'000;
constexpr double kRatioGoal = 3;
constexpr double kStartGoalMs = 30;
constexpr int kItems = 20;
constexpr int kStarts = 21;
constexpr int kRounds = 3;

constexpr std::string_view kInitialize =
    R"({"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{},"clientInfo":{"name":"bench","version":"1"}}})"
    "\n"
    R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
    "\n";

// The same tool over a list in memory.
constexpr std::string_view kScript = R"js(
import { readFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const threads = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const server = new McpServer({ name: 'list', version: '1.0.0' });
const thread = z.object({ id: z.string(), text: z.string(), status: z.enum(['open', 'resolved']), created_at: z.string() }).passthrough();
server.registerTool('list_threads', {
  title: 'List work items',
  description: 'List what is unresolved in this workspace, the oldest first.',
  inputSchema: { status: z.enum(['open', 'resolved']).optional(), include_resolved: z.boolean().optional(), project: z.string().optional() },
  outputSchema: { threads: z.array(thread), total_open: z.number(), total_resolved: z.number(), performance: z.object({ latency_ms: z.number() }) },
}, async ({ status = 'open' }) => {
  const begin = performance.now();
  const found = threads.filter((each) => each.status === status);
  const open = threads.filter((each) => each.status === 'open').length;
  const structuredContent = { threads: found, total_open: open, total_resolved: threads.length - open, performance: { latency_ms: performance.now() - begin } };
  const text = `${open} open, ${threads.length - open} resolved.\n` + found.map((each) => `- ${each.id} [${each.status}] ${each.text}\n`).join('');
  return { content: [{ type: 'text', text }], structuredContent };
});
await server.connect(new StdioServerTransport());
)js";

std::string items_json() {
  std::string json = "[\n";
  for (int i = 0; i < kItems; ++i) {
    json += fmt::format(
        R"(  {{"id": "t-{:08x}", "text": "Part {} of the import still loses its last line when the file {} has no line end", "status": "open", "created_at": "2026-02-09T18:12:01.{:03}Z"}}{})",
        i * 7919 + 1, i, i * 31, i, i + 1 < kItems ? ",\n" : "\n]\n");
  }
  return json;
}

std::string self() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).string();
}

// A server, and how many of its lines were read.
class Served {
 public:
  static Result<Served> start(Spawn spawn) {
    spawn.err = Spawn::Stream::kNull;
    SKEIN_ASSIGN(Subprocess process, Subprocess::start(spawn));
    return Served(std::move(process));
  }

  Result<void> send(std::string_view lines) { return process_.write(lines, 300s); }

  // Waits for this many more lines that are answers.
  Result<void> read_answers(std::size_t count) {
    while (count > 0) {
      SKEIN_ASSIGN(const auto chunk, process_.read(60s));
      if (chunk.out.empty()) return fail(ErrorCode::kIo, "the server says nothing");
      for (const char c : chunk.out) {
        if (line_.size() < 40) line_ += c;
        if (c != '\n') continue;
        // Notifications begin with what they are; where an answer has its id, servers differ.
        if (line_.find("\"method\":") == std::string::npos && count > 0) --count;
        line_.clear();
      }
    }
    return {};
  }

 private:
  explicit Served(Subprocess process) : process_(std::move(process)) {}
  Subprocess process_;
  std::string line_;  // its beginning
};

std::string calls(std::size_t first, std::size_t count) {
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) {
    lines += fmt::format(
        R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"list_threads","arguments":{{}}}}}})"
        "\n",
        first + i);
  }
  return lines;
}

Result<double> calls_per_second(const Spawn& spawn, std::size_t count) {
  SKEIN_ASSIGN(Served server, Served::start(spawn));
  SKEIN_TRY(server.send(kInitialize));
  SKEIN_TRY(server.read_answers(1));
  constexpr std::size_t kWarm = 2'000;
  const std::string warm = calls(1'000'000, kWarm);
  const std::string lines = calls(1, count);
  Result<void> sent{};
  const auto run = [&](const std::string& text, std::size_t answers) -> Result<void> {
    std::jthread sender([&] { sent = server.send(text); });
    return server.read_answers(answers);
  };
  SKEIN_TRY(run(warm, kWarm));
  const auto begin = SteadyClock::now();
  SKEIN_TRY(run(lines, count));
  const std::chrono::duration<double> taken = SteadyClock::now() - begin;
  return static_cast<double>(count) / taken.count();
}

Result<double> best_of(const Spawn& spawn, std::size_t count) {
  double best = 0;
  for (int i = 0; i < kRounds; ++i) {
    SKEIN_ASSIGN(const double rate, calls_per_second(spawn, count));
    best = std::max(best, rate);
  }
  return best;
}

// Where the packages of the tests are, with the SDK.
Result<fs::path> npm_tree() {
  const char* named = std::getenv("SKEIN_NODE_MODULES");
  const fs::path tree = named != nullptr && *named != '\0'
                            ? fs::path(named)
                            : fs::path("tests/protocol/node_modules");
  std::error_code error;
  const fs::path found = fs::canonical(tree, error);
  if (!error && fs::exists(found / "@modelcontextprotocol" / "sdk")) return found;
  return fail(ErrorCode::kNotFound,
              "the SDK to compare with is not in " + tree.string() +
                  "; run tools/setup, and this in the repository, or set SKEIN_NODE_MODULES");
}

Result<Spawn> sdk_server(const BenchOptions& options) {
  SKEIN_ASSIGN(const fs::path tree, npm_tree());
  const fs::path folder = fs::path(options.folder) / "sdk";
  std::error_code error;
  fs::create_directories(folder, error);
  fs::create_directory_symlink(tree, folder / "node_modules", error);
  std::ofstream(folder / "server.mjs") << kScript;
  std::ofstream(folder / "items.json") << items_json();
  return Spawn{
      .argv = {"node", (folder / "server.mjs").string(), (folder / "items.json").string()}};
}

Result<void> bench_stdio(const BenchOptions& options, std::vector<Row>& rows) {
  const std::size_t count = options.quick ? 20'000 : 200'000;
  const fs::path workspace = fs::path(options.folder) / "workspace-of-items";
  std::error_code error;
  fs::create_directories(workspace / ".gitmem", error);
  std::ofstream(workspace / ".gitmem" / "threads.json") << items_json();
  options.say("calling list_threads, all at once");
  SKEIN_ASSIGN(const double ours,
               best_of({.argv = {self(), "--workspace", workspace.string(), "mcp"}}, count));
  rows.push_back({fmt::format("list_threads of {} items, pipelined", kItems), per_second(ours),
                  fmt::format("{} calls, best of {}", count, kRounds), ours, kCallsGoal, false,
                  "/s"});
  options.say("calling the same tool made with the official SDK");
  SKEIN_ASSIGN(const Spawn spawn, sdk_server(options));
  SKEIN_ASSIGN(const double theirs, best_of(spawn, count / 10));
  rows.push_back({"the same against the TypeScript SDK", per_second(ours),
                  "a list in memory, " + per_second(theirs), ours / theirs, kRatioGoal, false,
                  "×"});
  return {};
}

Result<void> make_threads(const std::string& url, std::size_t count) {
  StoreOptions unflushed;
  unflushed.unsafe_no_flush = true;
  SKEIN_ASSIGN(const auto store, open_store(url, unflushed));
  for (std::size_t i = 0; i < count; ++i) {
    NewThread thread;
    thread.agent_id = fmt::format("agent-{}", i % 7);
    thread.fields.title(fmt::format("Conversation number {}", i));
    Event event;
    event.payload = Message{Role::kUser, "What did we decide about retries?"};
    thread.events.push_back(std::move(event));
    SKEIN_TRY(store->create(thread));
  }
  return {};
}

Result<double> first_answer_ms(const Spawn& spawn, std::string_view lines, std::size_t answers) {
  const auto begin = SteadyClock::now();
  SKEIN_ASSIGN(Served server, Served::start(spawn));
  SKEIN_TRY(server.send(lines));
  SKEIN_TRY(server.read_answers(answers));
  const std::chrono::duration<double, std::milli> taken = SteadyClock::now() - begin;
  return taken.count();
}

Result<void> bench_start(const BenchOptions& options, std::vector<Row>& rows) {
  const std::size_t count = options.quick ? 10'000 : 100'000;
  const fs::path workspace = fs::path(options.folder) / "workspace-of-threads";
  std::error_code error;
  fs::create_directories(workspace / ".skein", error);
  options.say("making threads");
  SKEIN_TRY(make_threads("sqlite:" + (workspace / ".skein" / "skein.db").string(), count));
  options.say("starting the server");
  const Spawn spawn{.argv = {self(), "--workspace", workspace.string(), "mcp"}};
  const auto measure = [&](std::string work, const std::string& lines,
                           std::size_t answers) -> Result<void> {
    std::vector<double> times;
    for (int i = 0; i < kStarts; ++i) {
      SKEIN_ASSIGN(const double taken, first_answer_ms(spawn, lines, answers));
      times.push_back(taken);
    }
    const double typical = median(times);
    rows.push_back({std::move(work), duration(typical / 1000),
                    fmt::format("median of {} starts, {} threads", kStarts, count), typical,
                    kStartGoalMs, true, "ms"});
    return {};
  };
  SKEIN_TRY(measure("start to the first answer", std::string(kInitialize), 1));
  return measure("start to the list of resources, which reads the store",
                 std::string(kInitialize) +
                     R"({"jsonrpc":"2.0","id":1,"method":"resources/list","params":{}})"
                     "\n",
                 2);
}

}  // namespace

std::span<const Part> mcp_bench_parts() {
  static const std::vector<Part> parts = {{"stdio", bench_stdio}, {"start", bench_start}};
  return parts;
}

}  // namespace skein::bench
