// What matters most of a review, in a few lines.
#pragma once

#include <string>

#include "api/trust_review.h"

namespace skein {

// The programs, addresses and variables of what waits for trust, how many and which: it stands just
// before the question, where a long text above cannot push it off the screen. Each is cut where it
// is long; the review has it whole. Safe to print.
std::string trust_summary(const TrustReview& review);

}  // namespace skein
