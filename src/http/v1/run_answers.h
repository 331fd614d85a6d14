// What is answered about runs, also those of tasks.
#pragma once

#include <chrono>
#include <string>

#include "http/response.h"
#include "http/v1/common.h"
#include "skein/run.h"

namespace skein::http::v1 {

// The run, and where it is.
Response run_response(int status, const Run& run);

// Its outcome, when it has ended, or as it is when the time is over (0: there is none).
Reply wait_for_run(Service& service, std::string run_id, std::chrono::milliseconds timeout,
                   std::vector<HttpHeader> headers = {});

}  // namespace skein::http::v1
