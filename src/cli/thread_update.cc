#include <fmt/format.h>

#include "api/threads.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/thread_commands.h"
#include "core/try.h"

namespace skein {
namespace {

class Update : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "update",
            .summary = "change the title or the metadata of a thread, or clear its session",
            .examples =
                "  skein thread update a1b2c3d4e5f6 --title \"Refund, escalated\"\n"
                "  skein thread update a1b2c3d4e5f6 --metadata "
                "'{\"user_id\":\"user-123\",\"escalated\":true}' --json\n"
                "  skein thread update a1b2c3d4e5f6 --clear-session\n",
            .details =
                "Metadata is replaced whole by what is given. Where nothing changes, the "
                "time of the last update stays.\n--clear-session forgets the engine's own session "
                "(sessionId): the next run starts a new one with what the\nthread has."};
  }

  std::vector<Argument> arguments() override {
    return {thread_argument(thread_),
            {.names = "--title", .value_name = "TEXT", .help = "a new title", .set = into(title_)},
            {.names = "--metadata",
             .value_name = "JSON",
             .help = "an object to keep with the thread instead of what was there",
             .set = into_object(metadata_)},
            {.names = "--clear-session",
             .help = "forget the engine's session, so that the next run starts a new one",
             .set = into(clear_session_)}};
  }

  Outcome run(Context& context) override {
    SKEIN_TRY(check_has_no_mark(metadata_));
    ManifestPatch patch;
    if (title_) patch.title(*title_);
    if (!metadata_.empty()) patch.metadata(std::move(metadata_));
    if (clear_session_) patch.clear("sessionId");
    if (patch.empty()) {
      return wrong_usage("nothing to change: say --title, --metadata or --clear-session");
    }
    SKEIN_ASSIGN_OR_FAIL(const OpenManager manager, context.open_manager(IfMissing::kRefuse));
    SKEIN_ASSIGN(const Manifest manifest, manager->update(thread_->str(), patch));
    print_manifest(context, manifest);
    return kExitDone;
  }

 private:
  std::optional<ThreadRef> thread_;
  std::optional<std::string> title_;
  Json metadata_;
  bool clear_session_ = false;
};

// pin and unpin
class Pinning : public Command {
 public:
  explicit Pinning(bool pin) : pin_(pin) {}

  CommandInfo info() const override {
    if (!pin_) {
      return {.name = "unpin",
              .summary = "let go of an event that was pinned",
              .examples = "  skein thread unpin a1b2c3d4e5f6 12\n"};
    }
    return {.name = "pin",
            .summary = "keep an event in mind: context windows take it in first",
            .examples = "  skein thread pin a1b2c3d4e5f6 12\n"};
  }

  std::vector<Argument> arguments() override {
    return {thread_argument(thread_),
            {.names = "SEQ",
             .value_name = "SEQ",
             .help = "position of the event",
             .set = into(seq_),
             .required = true}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const OpenManager manager, context.open_manager(IfMissing::kRefuse));
    SKEIN_ASSIGN(const Manifest manifest, pin_ ? manager->pin(thread_->str(), *seq_)
                                               : manager->unpin(thread_->str(), *seq_));
    print_manifest(context, manifest);
    return kExitDone;
  }

 private:
  const bool pin_;
  std::optional<ThreadRef> thread_;
  std::optional<std::uint64_t> seq_;
};

}  // namespace

std::vector<std::unique_ptr<Command>> thread_update_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(std::make_unique<Update>());
  commands.push_back(std::make_unique<Pinning>(true));
  commands.push_back(std::make_unique<Pinning>(false));
  return commands;
}

}  // namespace skein
