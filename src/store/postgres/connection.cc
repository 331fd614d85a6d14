#include "store/postgres/connection.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/try.h"

namespace skein::postgres {
namespace {

using Clock = std::chrono::steady_clock;

std::string one_line(const char* message) {
  std::string text = message == nullptr ? "" : message;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// As libpq takes them. Borrows the settings.
struct Parameters {
  explicit Parameters(const Settings& settings) {
    for (const auto& [name, value] : settings.connection) {
      names.push_back(name.c_str());
      values.push_back(value.c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
  }
  std::vector<const char*> names;
  std::vector<const char*> values;
};

// The extension Citus reports the end of the server as an internal error.
bool is_shutdown(std::string_view state, std::string_view message) {
  return state.starts_with("57P0") ||
         (state == "XX000" && message.find("postmaster was shut down") != std::string_view::npos);
}

}  // namespace

std::int64_t Answer::integer(int row, int column) const {
  const std::string_view raw = bytes(row, column);
  std::uint64_t value = 0;
  for (const char c : raw) value = value << 8 | static_cast<unsigned char>(c);
  return static_cast<std::int64_t>(value);
}

std::string_view Answer::bytes(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

bool Failure::passing() const {
  // 57P0x: shut down, crashed, not up yet; 25006: became a standby; 08: the connection.
  return lost || state.starts_with("57P0") || state.starts_with("08") || state == "25006";
}

bool Failure::in_doubt() const {
  // 40003: statement completion unknown; 08: the connection, also one between two nodes.
  return lost || internal_error() || state == "40003" || state.starts_with("08");
}

bool Failure::collided() const { return state == "23505" || state == "40001" || state == "40P01"; }

Connection::Connection(PGconn* handle, const Settings& settings)
    : handle_(handle), schema_(settings.schema), prepare_(settings.prepare) {
  PQsetNoticeReceiver(handle_.get(), on_notice, this);
}

Result<std::unique_ptr<Connection>> Connection::open(const Settings& settings) {
  const Parameters parameters(settings);
  std::unique_ptr<Connection> connection(new Connection(
      PQconnectdbParams(parameters.names.data(), parameters.values.data(), 0), settings));
  PGconn* handle = connection->handle_.get();
  if (PQstatus(handle) != CONNECTION_OK)
    return fail(ErrorCode::kIo,
                "cannot connect to PostgreSQL: " + one_line(PQerrorMessage(handle)));
  if (PQsetnonblocking(handle, 1) != 0 || PQenterPipelineMode(handle) != 1)
    return fail(ErrorCode::kIo,
                "cannot set up a connection to PostgreSQL: " + one_line(PQerrorMessage(handle)));
  return connection;
}

bool Connection::is_restarting(const Settings& settings) {
  const Parameters parameters(settings);
  return PQpingParams(parameters.names.data(), parameters.values.data(), 0) == PQPING_REJECT;
}

void Connection::on_notice(void* self, const PGresult* result) {
  const char* severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity == nullptr || std::strcmp(severity, "WARNING") != 0) return;
  static_cast<Connection*>(self)->warning_ =
      one_line(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
}

bool Connection::in_transaction() const {
  return PQtransactionStatus(handle_.get()) != PQTRANS_IDLE;
}

std::string Connection::parameter(const char* name) const {
  const char* value = PQparameterStatus(handle_.get(), name);
  return value == nullptr ? "" : value;
}

std::string Connection::with_schema(std::string_view sql) const {
  constexpr std::string_view kName = "skein.";
  std::string text;
  for (;;) {
    const std::size_t at = sql.find(kName);
    text += sql.substr(0, at);
    if (at == std::string_view::npos) return text;
    text += schema_ + '.';
    sql.remove_prefix(at + kName.size());
  }
}

void Connection::queue(std::string_view sql, const Arguments& arguments) {
  if (usable()) send(sql, arguments);
}

void Connection::send(std::string_view sql, const Arguments& arguments) {
  PGconn* handle = handle_.get();
  const std::string text = with_schema(sql);
  int sent = 1;
  std::string name;
  if (prepare_) {
    const auto [known, fresh] = prepared_.try_emplace(text);
    if (fresh) known->second = "s" + std::to_string(++names_);
    name = known->second;
    if (fresh) {
      sent = PQsendPrepare(handle, name.c_str(), text.c_str(), 0, nullptr);
      queue_.push_back({Step::kPrepare, text});
    }
  }
  const std::vector<const char*> values = arguments.values();
  const std::vector<int> formats = arguments.formats();
  if (sent == 1) {
    sent = prepare_ ? PQsendQueryPrepared(handle, name.c_str(), arguments.count(), values.data(),
                                          arguments.lengths(), formats.data(), 1)
                    : PQsendQueryParams(handle, text.c_str(), arguments.count(), nullptr,
                                        values.data(), arguments.lengths(), formats.data(), 1);
    queue_.push_back({Step::kExecute, {}});
  }
  if (sent != 1) loss(one_line(PQerrorMessage(handle)));
}

void Connection::end_part() {
  if (!usable()) return;
  if (PQpipelineSync(handle_.get()) != 1) loss(one_line(PQerrorMessage(handle_.get())));
  queue_.push_back({Step::kSync, {}});
}

Error Connection::loss(std::string why) {
  failure_.lost = true;
  failure_.refused = false;
  if (why.empty()) why = "the connection was closed";
  return {ErrorCode::kIo, "lost the connection to PostgreSQL: " + why};
}

Error Connection::refuse_standby(std::string_view what) {
  failure_ = Failure{.state = "25006", .lost = true, .refused = true};
  return {ErrorCode::kIo,
          "the server takes no writes: it is a standby (pg_is_in_recovery() is true). " +
              std::string(what) +
              "; connect to the primary, or list all servers in the URL with "
              "target_session_attrs=read-write"};
}

Error Connection::refusal(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  if (state == nullptr) return loss(one_line(PQresultErrorMessage(result)));
  failure_.state = state;
  failure_.refused = true;
  const std::string message = one_line(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
  if (is_shutdown(failure_.state, message)) failure_.lost = true;
  std::string doing = "PostgreSQL failed: ";
  if (failure_.state == "53100") doing = "the server's disk is full: ";
  if (failure_.state == "25006") doing = "the server takes no writes: ";
  if (failure_.state == "42P05" || failure_.state == "26000")
    doing = "a pooler mixes up prepared statements, skein_prepare=off in the URL does without: ";
  if (failure_.state == "55P03") doing = "another program holds a lock for too long: ";
  return {ErrorCode::kIo, doing + message + " (SQLSTATE " + failure_.state + ")"};
}

Result<void> Connection::wait(short events, Deadline deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return tl::unexpected(loss("the server did not answer in time"));
    pollfd socket{PQsocket(handle_.get()), events, 0};
    const int ready = ::poll(&socket, 1, static_cast<int>(std::min<long long>(left, 60'000)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return tl::unexpected(loss(std::strerror(errno)));
  }
}

Result<void> Connection::flush(Deadline deadline) {
  PGconn* handle = handle_.get();
  for (;;) {
    const int left = PQflush(handle);
    if (left == 0) return {};
    // The server may have closed the connection with a reason, which is still to be read.
    if (left < 0) return {};
    SKEIN_TRY(wait(POLLIN | POLLOUT, deadline));
    // What the server answers meanwhile must be taken, or it would not take more from us.
    if (PQconsumeInput(handle) != 1) return {};
  }
}

Result<PGresult*> Connection::next_result(Deadline deadline) {
  PGconn* handle = handle_.get();
  while (PQisBusy(handle) != 0) {
    SKEIN_TRY(wait(POLLIN, deadline));
    if (PQconsumeInput(handle) != 1) break;  // PQgetResult says why
  }
  return PQgetResult(handle);
}

Result<void> Connection::receive(const Queued& queued, Deadline deadline,
                                 std::vector<Answer>& answers, std::optional<Error>& error) {
  PGresult* first = nullptr;
  SKEIN_ASSIGN(first, next_result(deadline));
  if (first == nullptr) return tl::unexpected(loss(one_line(PQerrorMessage(handle_.get()))));
  Answer answer(first);
  const ExecStatusType status = PQresultStatus(first);
  const bool done = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
  if (queued.step == Step::kSync) {
    if (status == PGRES_PIPELINE_SYNC) return {};
    return tl::unexpected(status == PGRES_FATAL_ERROR ? refusal(first) : loss("out of step"));
  }
  if (queued.step == Step::kPrepare && !done) prepared_.erase(queued.sql);
  if (status == PGRES_FATAL_ERROR && !error) error = refusal(first);
  if (!usable()) return tl::unexpected(*error);
  if (queued.step == Step::kExecute && done) answers.push_back(std::move(answer));
  PGresult* end = nullptr;
  SKEIN_ASSIGN(end, next_result(deadline));
  if (end == nullptr) return {};
  const Answer unexpected(end);
  return tl::unexpected(PQresultStatus(end) == PGRES_FATAL_ERROR ? refusal(end)
                                                                 : loss("out of step"));
}

Result<void> Connection::receive_part(std::size_t end, Deadline deadline,
                                      std::vector<Answer>& answers) {
  std::optional<Error> error;
  for (std::size_t i = 0; i < end; ++i) {
    auto received = receive(queue_[i], deadline, answers, error);
    if (received) continue;
    failure_.lost = true;
    queue_.clear();
    return tl::unexpected(error ? std::move(*error) : std::move(received.error()));
  }
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(end));
  if (error) return tl::unexpected(std::move(*error));
  return {};
}

Result<std::vector<Answer>> Connection::exchange(Deadline deadline) {
  const auto is_sync = [](const Queued& queued) { return queued.step == Step::kSync; };
  if (usable() && (queue_.size() == unread_ || !is_sync(queue_.back()))) end_part();
  if (!usable()) {
    queue_.clear();
    return tl::unexpected(loss(one_line(PQerrorMessage(handle_.get()))));
  }
  failure_ = Failure{};
  SKEIN_TRY(flush(deadline));
  late_.clear();
  if (const std::size_t unread = std::exchange(unread_, 0); unread > 0) {
    auto received = receive_part(unread, deadline, late_);
    if (!usable()) return tl::unexpected(std::move(received.error()));
    if (!received) late_.clear();
    failure_ = Failure{};
  }
  warning_.clear();
  std::vector<Answer> answers;
  const auto first = std::find_if(queue_.begin(), queue_.end(), is_sync);
  auto received =
      receive_part(static_cast<std::size_t>(first - queue_.begin()) + 1, deadline, answers);
  unread_ = queue_.size();
  SKEIN_TRY(received);
  return answers;
}

Result<Answer> Connection::ask(std::string_view sql, const Arguments& arguments,
                               Deadline deadline) {
  queue(sql, arguments);
  SKEIN_ASSIGN(auto answers, exchange(deadline));
  if (answers.empty()) return tl::unexpected(loss("out of step"));
  return std::move(answers.back());
}

Result<void> Connection::execute(const std::string& sql, Deadline deadline) {
  // Several statements in one text are the simple protocol's, which a pipeline does not have.
  PGconn* handle = handle_.get();
  if (!queue_.empty()) SKEIN_TRY(exchange(deadline));
  if (PQexitPipelineMode(handle) != 1 || PQsendQuery(handle, with_schema(sql).c_str()) != 1)
    return tl::unexpected(loss(one_line(PQerrorMessage(handle))));
  failure_ = Failure{};
  std::optional<Error> error;
  SKEIN_TRY(flush(deadline));
  for (;;) {
    PGresult* result = nullptr;
    SKEIN_ASSIGN(result, next_result(deadline));
    if (result == nullptr) break;
    const Answer answer(result);
    if (PQresultStatus(result) == PGRES_FATAL_ERROR && !error) error = refusal(result);
  }
  if (PQenterPipelineMode(handle) != 1)
    return tl::unexpected(loss(one_line(PQerrorMessage(handle))));
  if (error) return tl::unexpected(std::move(*error));
  return {};
}

}  // namespace skein::postgres
