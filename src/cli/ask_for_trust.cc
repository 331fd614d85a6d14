#include "cli/ask_for_trust.h"

#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <iostream>

#include "api/trust_review.h"
#include "cli/dialogue.h"
#include "cli/trust_summary.h"
#include "core/try.h"

namespace skein {

bool person_is_there() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1; }

namespace {

using Review = std::function<Result<TrustReview>(const Settings& settings)>;

// Whether there was something to trust, and now is trusted.
Result<bool> ask_for_trust(const Settings& settings, const TrustReview& review) {
  if (!review.needs_trust()) return false;
  std::cerr << visible(fmt::format("{} has content that you have not trusted:\n\n{}\n",
                                   review.workspace, to_text(review)))
            << trust_summary(review);
  const auto yes = ask("Trust them?", "");
  if (!yes) return tl::unexpected(yes.error().error);
  if (*yes) SKEIN_TRY(grant_trust(settings, review));
  return *yes;
}

tl::expected<Settings, Failure> settings_after(Context& context, const Review& review_of) {
  // A store that was just trusted may hold records that nobody signed: they are the second round.
  for (bool asking = person_is_there(); asking;) {
    SKEIN_ASSIGN_OR_FAIL(Settings settings, context.unchecked_settings());
    SKEIN_ASSIGN(asking, grant_by_digest(settings, context.request().trust));
    if (asking) continue;
    SKEIN_ASSIGN(const TrustReview review, review_of(settings));
    SKEIN_ASSIGN(asking, ask_for_trust(settings, review));
  }
  return context.settings();
}

}  // namespace

tl::expected<Settings, Failure> settings_for_agent(Context& context, std::string_view agent_id) {
  return settings_after(context,
                        [&](const Settings& settings) { return review_agent(settings, agent_id); });
}

tl::expected<Settings, Failure> settings_for_all_agents(Context& context) {
  return settings_after(context, [](const Settings& settings) { return review_trust(settings); });
}

}  // namespace skein
