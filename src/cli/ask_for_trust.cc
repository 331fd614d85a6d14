#include "cli/ask_for_trust.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "api/agent_trust.h"
#include "api/agents.h"
#include "cli/dialogue.h"
#include "cli/trust_summary.h"
#include "core/try.h"

namespace skein {

bool person_is_there() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1; }

Result<void> ask_for_trust(const Settings& settings, const TrustReview& review) {
  if (!review.needs_trust() || !person_is_there()) return {};
  std::cerr << visible(fmt::format("{} has content that you have not trusted:\n\n{}\n",
                                   review.workspace, to_text(review)))
            << trust_summary(review);
  const auto yes = ask("Trust them?", "");
  if (!yes) return tl::unexpected(yes.error().error);
  if (!*yes) return {};
  return grant_trust(settings, review);
}

Result<void> ask_for_workspace_trust(const Settings& settings) {
  if (settings.trust == nullptr || !person_is_there()) return {};
  SKEIN_ASSIGN(const TrustReview review, review_trust(settings));
  return ask_for_trust(settings, review);
}

Result<void> ask_for_agent_trust(const Settings& settings, std::string_view agent_id) {
  if (settings.trust == nullptr || !person_is_there()) return {};
  const auto agent = workspace_agents(settings).get(agent_id);
  if (!agent || check_agent_trust(settings, *agent)) return {};
  SKEIN_ASSIGN(const auto definitions, agent_definitions(*agent, settings.trust->workspace()));
  SKEIN_ASSIGN(TrustReview review, review_definitions(settings));
  std::erase_if(review.definitions, [&](const ReviewedDefinition& reviewed) {
    return std::none_of(definitions.begin(), definitions.end(), [&](const Definition& wanted) {
      return wanted.name == reviewed.definition.name;
    });
  });
  review.problems.clear();
  return ask_for_trust(settings, review);
}

}  // namespace skein
