#include <fmt/format.h>

#include "api/work/answers.h"
#include "api/work/place.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "core/try.h"

namespace skein {
namespace {

// The items of the workspace, and the store that they are noted in.
struct OpenItems {
  std::unique_ptr<Store> store;
  WorkPlace place;
  std::unique_ptr<WorkItems> items;
};

enum class Purpose { kRead, kChange };

// Reading makes no store: the file may have items of which nothing was ever noted.
tl::expected<OpenItems, Failure> open_items(Context& context, Purpose purpose) {
  SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
  OpenItems open;
  if (purpose == Purpose::kRead && !store_exists(settings.store_url)) {
    SKEIN_ASSIGN_OR_FAIL(open.store, open_store("memory:"));
  } else {
    SKEIN_ASSIGN_OR_FAIL(open.store, context.open(IfMissing::kCreate));
  }
  open.place = work_place(settings);
  open.items = std::make_unique<WorkItems>(*open.store, open.place, system_clock(), random_ids());
  return open;
}

// The session that was typed must be known; that of the environment is a notice if it is not.
void set_session(auto& request, const OpenItems& open) {
  if (request.session_id) return;
  request.session_id = session_of(std::nullopt);
  request.session_may_be_unknown = true;
  if (!request.session_id) return;
  const auto notice = unknown_session_notice(*open.store, open.place, *request.session_id);
  if (notice) print_notice(*notice);
}

void add_link_arguments(std::vector<Argument>& arguments, ItemLinks& links,
                        const std::string& what) {
  const auto add = [&](const char* name, const char* value_name, const std::string& help,
                       std::string& target) {
    arguments.push_back(
        {.names = name, .value_name = value_name, .help = what + help, .set = into(target)});
  };
  add("--thread", "ID", "a thread", links.thread);
  add("--run", "ID", "a run", links.run);
  add("--checkpoint", "ID", "a checkpoint", links.checkpoint);
  add("--commit", "HASH", "a commit", links.commit);
}

Argument project_argument(std::optional<std::string>& project, std::string help) {
  return {.names = "--project", .value_name = "P", .help = std::move(help), .set = into(project)};
}

Argument session_argument(std::optional<std::string>& session, const std::string& what) {
  return {.names = "--session",
          .value_name = "ID",
          .help = what + " (SKEIN_SESSION; default the newest open one here)",
          .set = into(session)};
}

constexpr const char* kDoingSession = "the working session that does it";
constexpr const char* kBothProjects = "give --project or --all-projects, not both";

std::string item_row(const ListedItem& listed) {
  const WorkItem& item = listed.item;
  const std::string state =
      item.status == ItemStatus::kResolved
          ? std::string("resolved")
          : fmt::format("{:.2f} {}", listed.details->vitality.value, listed.details->vitality.word);
  return fmt::format("{:<10}  {:<13}  {}  {}\n", item.id, state,
                     item.created_at.str().substr(0, 10), visible_line(item.text));
}

class Create : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "create",
            .summary = "note something that is open, and print its id",
            .examples =
                "  skein item create \"Phase 2 release still pending\"\n"
                "  skein item create \"Flaky retry test\" --thread a1b2c3d4e5f6 --json\n",
            .details =
                "An item that says nearly the same as an open one of its project is refused, which "
                "is quoted; the exit code is 4.\n--allow-duplicate creates it all the same."};
  }

  std::vector<Argument> arguments() override {
    std::vector<Argument> all = {
        {.names = "TEXT",
         .value_name = "TEXT",
         .help = "what is open",
         .set = into(request_.text),
         .required = true},
        project_argument(
            request_.project,
            "what it belongs to (default: that of the session, else of the workspace)"),
        session_argument(request_.session_id, kDoingSession),
        {.names = "--allow-duplicate",
         .help = "even if an open item says nearly the same",
         .set = into(request_.allow_duplicate)},
        {.names = "--linear-issue",
         .value_name = "KEY",
         .help = "the issue that it is about, such as PROJ-123",
         .set = into(request_.linear_issue)},
    };
    add_link_arguments(all, request_.opened_by, "what opened it: ");
    return all;
  }

  Outcome run(Context& context) override {
    const Stopwatch watch;
    SKEIN_ASSIGN_OR_FAIL(const OpenItems open, open_items(context, Purpose::kChange));
    set_session(request_, open);
    auto created = open.items->create(request_);
    if (!created) return tl::unexpected(with_option(std::move(created).error()));
    const WorkItem& item = *created;
    context.out().write((context.json() ? create_thread_answer(item, watch) : item.id) + "\n");
    return kExitDone;
  }

 private:
  // The library's word for the option is not the one of the command line.
  static Error with_option(Error error) {
    constexpr std::string_view kWord = "; allow_duplicate creates";
    const std::size_t at = error.message.rfind(kWord);
    if (error.code == ErrorCode::kConflict && at != std::string::npos) {
      error.message.replace(at, kWord.size(), "; --allow-duplicate creates");
    }
    return error;
  }

  CreateItem request_;
};

class List : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "list",
        .summary = "print what is open, the oldest first",
        .examples =
            "  skein item list\n"
            "  skein item list --include-resolved --project billing --json\n"
            "  skein item list --status resolved --thread a1b2c3d4e5f6\n",
        .details =
            "While a working session is open, the items are those of its project; --all-projects "
            "lists all. The totals\nare of the same project. "
            "Each open item has its vitality, from 0 to 1: emerging, active, cooling or "
            "dormant. Items with the\nsame text are shown once, by the oldest of them."};
  }

  std::vector<Argument> arguments() override {
    std::vector<Argument> all = {
        with_choices<ItemStatus>(
            {.names = "--status", .value_name = "STATUS", .help = "which ones (default open)"},
            {{"open", ItemStatus::kOpen}, {"resolved", ItemStatus::kResolved}}, request_.status),
        {.names = "--include-resolved",
         .help = "also those that were resolved in the last 14 days",
         .set = into(request_.include_resolved)},
        project_argument(request_.project, "only those of this project (default: of the session)"),
        {.names = "--all-projects", .help = "those of all projects", .set = into(all_projects_)},
        session_argument(request_.session_id, "the working session whose project counts"),
    };
    add_link_arguments(all, request_.linked_to, "only those that link to ");
    return all;
  }

  Outcome run(Context& context) override {
    const Stopwatch watch;
    SKEIN_ASSIGN_OR_FAIL(const OpenItems open, open_items(context, Purpose::kRead));
    if (all_projects_ && request_.project) {
      return wrong_usage(kBothProjects);
    }
    request_.of_session = !all_projects_;
    set_session(request_, open);
    request_.with_details = !context.json();
    SKEIN_ASSIGN(const ItemListing listing, open.items->list(request_));
    if (context.json()) {
      context.out().write(list_threads_answer(listing, watch) + "\n");
      return kExitDone;
    }
    for (const ListedItem& listed : listing.items) context.out().write(item_row(listed));
    const std::string of_project =
        listing.project ? " in project " + visible_line(*listing.project) : std::string();
    context.out().write(fmt::format("{} open, {} resolved{}\n", listing.total_open,
                                    listing.total_resolved, of_project));
    return kExitDone;
  }

 private:
  bool all_projects_ = false;
  ListItems request_;
};

class Resolve : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "resolve",
        .summary = "mark an item as done",
        .examples =
            "  skein item resolve t-1a2b3c4d --note \"Released as 2.0\"\n"
            "  skein item resolve --text-match \"package name\" --json\n"
            "  skein item resolve '#2' --project billing\n",
        .details =
            "A text is looked for in the open items that \"skein item list\" prints with the same "
            "--project, --all-projects and\n--session, without regard to case, and must be in one "
            "of them only. #2 is the second of them. An id names an item of\nany project. A note "
            "that says \"duplicate of t-…\" resolves that item as well. Resolving an item again "
            "changes nothing."};
  }

  std::vector<Argument> arguments() override {
    std::vector<Argument> all = {
        {.names = "ID",
         .value_name = "ID",
         .help = "the item, or its position in the list (#2)",
         .set = into(request_.id)},
        {.names = "--text-match",
         .value_name = "T",
         .help = "a part of the item's text, instead of its id",
         .set = into(request_.text_match)},
        {.names = "--note",
         .value_name = "N",
         .help = "how it was resolved",
         .set = into(request_.resolution_note)},
        project_argument(request_.project,
                         "the list that a position or text is of (default: of the session)"),
        {.names = "--all-projects",
         .help = "the list of all projects",
         .set = into(request_.all_projects)},
        session_argument(request_.session_id, kDoingSession),
    };
    add_link_arguments(all, request_.closed_by, "what closed it: ");
    return all;
  }

  Outcome run(Context& context) override {
    const Stopwatch watch;
    if (request_.id.has_value() == request_.text_match.has_value()) {
      return wrong_usage("name an item by its ID or by --text-match");
    }
    if (request_.all_projects && request_.project) return wrong_usage(kBothProjects);
    SKEIN_ASSIGN_OR_FAIL(const OpenItems open, open_items(context, Purpose::kChange));
    set_session(request_, open);
    std::vector<WorkItem> also_resolved;
    SKEIN_ASSIGN(const WorkItem item, open.items->resolve(request_, &also_resolved));
    if (context.json()) {
      context.out().write(resolve_thread_answer(item, also_resolved, watch) + "\n");
      return kExitDone;
    }
    also_resolved.insert(also_resolved.begin(), item);
    for (const WorkItem& each : also_resolved) {
      context.out().write(fmt::format("resolved {}  {}\n", each.id, visible_line(each.text)));
    }
    return kExitDone;
  }

 private:
  ResolveItem request_;
};

class Show : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "show",
            .summary = "print an item with what opened it and what closed it",
            .examples =
                "  skein item show t-1a2b3c4d\n"
                "  skein item show t-1a2b3c4d --json\n"};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "ID",
             .value_name = "ID",
             .help = "the item",
             .set = into(id_),
             .required = true}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const OpenItems open, open_items(context, Purpose::kRead));
    SKEIN_ASSIGN(const ListedItem listed, open.items->show(id_));
    if (context.json()) {
      SKEIN_ASSIGN(const std::string answer, show_item_answer(*open.store, listed));
      context.out().write(answer + "\n");
    } else {
      SKEIN_ASSIGN(const std::string text, show_item_text(*open.store, listed));
      context.out().write_stored(text);
    }
    return kExitDone;
  }

 private:
  std::string id_;
};

}  // namespace

CommandGroup item_commands() {
  CommandGroup group{"item", "what is still open, from one session to the next", {}};
  group.commands.push_back(std::make_unique<Create>());
  group.commands.push_back(std::make_unique<List>());
  group.commands.push_back(std::make_unique<Resolve>());
  group.commands.push_back(std::make_unique<Show>());
  return group;
}

}  // namespace skein
