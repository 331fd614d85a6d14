#include "core/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

using Milliseconds = std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMaxIdleSessions = 16;
constexpr std::size_t kMaxHeaderBytes = std::size_t{256} << 10;
constexpr long kMaxConnectionsKept = 4;  // of one session

// Once for the program, by whichever thread comes first.
void init_curl() {
  static const CURLcode done = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(done);
}

// Reached directly, whatever proxy the environment names.
bool is_loopback(std::string_view url) {
  url.remove_prefix(std::min(url.find("://") + 3, url.size()));
  url = url.substr(0, url.find_first_of("/?#"));
  url.remove_prefix(url.rfind('@') == std::string_view::npos ? 0 : url.rfind('@') + 1);
  const std::string_view host =
      url.starts_with('[') ? url.substr(0, url.find(']') + 1) : url.substr(0, url.find(':'));
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// Without what may be secret: user, query and fragment.
std::string shown_url(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  std::string shown(url);
  const std::size_t host = url.find("://");
  if (host != std::string_view::npos) {
    const std::size_t slash = url.find('/', host + 3);
    const std::size_t at = url.substr(0, slash).rfind('@');
    if (at != std::string_view::npos && at > host) shown.erase(host + 3, at - host - 2);
  }
  return mended_utf8(shown);
}

Result<void> check_request(const HttpRequest& request) {
  if (!request.url.starts_with("http://") && !request.url.starts_with("https://")) {
    return fail(ErrorCode::kInvalid,
                "a URL must begin with http:// or https://, got " + quote(shown_url(request.url)));
  }
  // A control character would end the URL, or begin another line of the request.
  if (std::any_of(request.url.begin(), request.url.end(),
                  [](unsigned char c) { return c <= 0x20 || c == 0x7F; })) {
    return fail(ErrorCode::kInvalid, "a URL must not have a space or a control character, got " +
                                         quote(shown_url(request.url)));
  }
  if (!is_http_token(request.method)) {
    return fail(ErrorCode::kInvalid, "not a method of HTTP: " + quote(request.method));
  }
  for (const HttpHeader& header : request.headers) {
    const bool breaks = std::any_of(header.value.begin(), header.value.end(), [](unsigned char c) {
      return (c < 0x20 && c != '\t') || c == 0x7F;
    });
    if (!is_http_token(header.name) || breaks) {
      return fail(
          ErrorCode::kInvalid,
          "a header must be a token and a value without control characters: " + quote(header.name));
    }
  }
  return {};
}

struct ListFree {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, ListFree>;

HeaderList header_list(const HttpRequest& request) {
  // The empty one keeps libcurl from waiting for "100 Continue".
  HeaderList list(curl_slist_append(nullptr, "Expect:"));
  for (const HttpHeader& header : request.headers) {
    const std::string line =
        header.value.empty() ? header.name + ";" : header.name + ": " + header.value;
    list.reset(curl_slist_append(list.release(), line.c_str()));
  }
  return list;
}

struct EasyFree {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};

// One request and what came of it.
class Transfer {
 public:
  explicit Transfer(const HttpRequest& request)
      : request_(request),
        easy_(curl_easy_init()),
        headers_(header_list(request)),
        started_(SteadyClock::now()),
        moved_at_(started_) {
    set(CURLOPT_URL, request.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_USERAGENT, "skein");
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_QUICK_EXIT, 1L);  // a look-up of a name that hangs is left behind
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
    if (is_loopback(request.url)) set(CURLOPT_PROXY, "");
    set(CURLOPT_HTTPHEADER, headers_.get());
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    if (request.method == "HEAD") set(CURLOPT_NOBODY, 1L);
    if (!request.body.empty() || request.method == "POST") {
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      set(CURLOPT_POSTFIELDS, request.body.data());
    }
    set(CURLOPT_ERRORBUFFER, error_);
    set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_WRITEFUNCTION, &Transfer::on_body);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Transfer::on_progress);
    set(CURLOPT_XFERINFODATA, this);
  }

  CURL* easy() const { return easy_.get(); }

  // Whether time is up, and until when it is not.
  Result<SteadyClock::time_point> deadline() const {
    const auto now = SteadyClock::now();
    auto until = now + std::chrono::seconds(60);
    const auto limit = [&](SteadyClock::time_point from, Milliseconds time,
                           std::string_view what) -> Result<void> {
      if (time.count() == 0) return {};
      if (now >= from + time) {
        return fail(ErrorCode::kBusy, shown_url(request_.url) + std::string(what) +
                                          std::to_string(time.count()) + " ms");
      }
      until = std::min(until, from + time);
      return {};
    };
    SKEIN_TRY(limit(started_, request_.total_timeout, " did not finish its answer within "));
    SKEIN_TRY(limit(moved_at_, request_.idle_timeout, " sent nothing for "));
    return until;
  }

  Result<HttpResponse> finish(CURLcode code) {
    if (ended_by_reader_) return std::move(response_);
    if (code == CURLE_OK) {
      take_status();
      return std::move(response_);
    }
    if (too_large_) {
      return fail(ErrorCode::kIo, shown_url(request_.url) + " answered with more than " +
                                      std::to_string(request_.max_body_bytes) + " bytes");
    }
    const auto kind = code == CURLE_URL_MALFORMAT ? ErrorCode::kInvalid : ErrorCode::kIo;
    const std::string_view said = error_[0] != '\0' ? error_ : curl_easy_strerror(code);
    return fail(kind, shown_url(request_.url) + ": " + mended_utf8(said));
  }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    curl_easy_setopt(easy_.get(), option, value);
  }

  void take_status() {
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    response_.status = static_cast<int>(status);
  }

  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* user) {
    auto& self = *static_cast<Transfer*>(user);
    const std::string_view line(data, size);
    self.moved_at_ = SteadyClock::now();
    if (line.starts_with("HTTP/")) {
      self.response_.headers.clear();  // those of an answer before the final one
      return size;
    }
    self.header_bytes_ += size;
    if (self.header_bytes_ > kMaxHeaderBytes) return 0;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return size;
    std::string_view value = line.substr(colon + 1);
    constexpr std::string_view kSpace = " \t\r\n";
    value.remove_prefix(std::min(value.find_first_not_of(kSpace), value.size()));
    value = value.substr(0, value.find_last_not_of(kSpace) + 1);
    self.response_.headers.push_back({std::string(line.substr(0, colon)), std::string(value)});
    return size;
  }

  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* user) {
    auto& self = *static_cast<Transfer*>(user);
    self.take_status();
    const std::string_view piece(data, size);
    if (self.request_.on_piece && self.response_.ok()) {
      if (self.request_.on_piece(self.response_, piece)) return size;
      self.ended_by_reader_ = true;
      return CURL_WRITEFUNC_ERROR;
    }
    std::string& body = self.response_.body;
    const std::size_t room = self.request_.max_body_bytes - body.size();
    body.append(piece.substr(0, room));
    if (size <= room || !self.response_.ok()) return size;
    self.too_large_ = true;
    return CURL_WRITEFUNC_ERROR;
  }

  static int on_progress(void* user, curl_off_t, curl_off_t down, curl_off_t, curl_off_t up) {
    auto& self = *static_cast<Transfer*>(user);
    if (down + up != self.moved_) self.moved_at_ = SteadyClock::now();
    self.moved_ = down + up;
    return 0;
  }

  const HttpRequest& request_;
  const std::unique_ptr<CURL, EasyFree> easy_;
  const HeaderList headers_;
  const SteadyClock::time_point started_;
  char error_[CURL_ERROR_SIZE] = {};

  HttpResponse response_;
  std::size_t header_bytes_ = 0;
  bool ended_by_reader_ = false;
  bool too_large_ = false;
  curl_off_t moved_ = 0;
  SteadyClock::time_point moved_at_;
};

}  // namespace

bool is_http_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return c < 0x80 &&
           (std::isalnum(c) != 0 || kOthers.find(static_cast<char>(c)) != std::string_view::npos);
  });
}

const std::string* HttpResponse::header(std::string_view name) const {
  const auto found = std::find_if(headers.rbegin(), headers.rend(), [&](const HttpHeader& header) {
    return same_name(header.name, name);
  });
  return found == headers.rend() ? nullptr : &found->value;
}

// Carries out one request at a time, and has the connections that stay open in between.
class HttpClient::Session {
 public:
  Session() : multi_(curl_multi_init()) {
    curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, kMaxConnectionsKept);
  }

  Result<HttpResponse> run(Transfer& transfer, const std::stop_token& stop) {
    if (curl_multi_add_handle(multi_.get(), transfer.easy()) != CURLM_OK) {
      return fail(ErrorCode::kIo, "libcurl takes no request");
    }
    auto result = drive(transfer, stop);
    curl_multi_remove_handle(multi_.get(), transfer.easy());
    return result;
  }

 private:
  struct Free {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
  };

  Result<HttpResponse> drive(Transfer& transfer, const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi_.get()); });
    int running = 1;
    while (true) {
      if (stop.stop_requested()) return fail(ErrorCode::kIo, "the request was stopped");
      if (const CURLMcode code = curl_multi_perform(multi_.get(), &running); code != CURLM_OK) {
        return fail(ErrorCode::kIo, curl_multi_strerror(code));
      }
      if (running == 0) break;
      SKEIN_ASSIGN(const auto until, transfer.deadline());
      const auto wait = std::chrono::ceil<Milliseconds>(until - SteadyClock::now()).count();
      curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(std::max<long>(wait, 0)), nullptr);
    }
    int left = 0;
    CURLMsg* message = curl_multi_info_read(multi_.get(), &left);
    return transfer.finish(message == nullptr ? CURLE_RECV_ERROR : message->data.result);
  }

  std::unique_ptr<CURLM, Free> multi_;
};

HttpClient::HttpClient() { init_curl(); }
HttpClient::~HttpClient() = default;

std::unique_ptr<HttpClient::Session> HttpClient::take_session() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<Session>();
  auto session = std::move(idle_.back());
  idle_.pop_back();
  return session;
}

void HttpClient::give_back(std::unique_ptr<Session> session) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMaxIdleSessions) idle_.push_back(std::move(session));
}

Result<HttpResponse> HttpClient::send(const HttpRequest& request, std::stop_token stop) {
  SKEIN_TRY(check_request(request));
  Transfer transfer(request);
  auto session = take_session();
  auto result = session->run(transfer, stop);
  give_back(std::move(session));
  return result;
}

}  // namespace skein
