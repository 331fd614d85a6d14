// The routes of /v1, resource by resource.
#pragma once

#include <memory>
#include <vector>

#include "http/route.h"
#include "http/thread_stream.h"

namespace skein::http::v1 {

std::vector<Route> thread_routes();  // threads, status, forks, pins
// Events and messages of a thread. Its streams share the frames.
std::vector<Route> event_routes(const std::shared_ptr<ThreadFrames>& frames);
std::vector<Route> feed_routes();     // what happens to threads, as pages and as a stream
std::vector<Route> context_routes();  // context windows, summaries
std::vector<Route> recall_routes();   // search, backfill
std::vector<Route> item_routes();
std::vector<Route> session_routes();
std::vector<Route> checkpoint_routes();
std::vector<Route> run_routes();
std::vector<Route> run_stream_routes();
std::vector<Route> usage_routes();
std::vector<Route> task_routes();
std::vector<Route> trigger_routes();
std::vector<Route> agent_routes();

}  // namespace skein::http::v1
