#include "core/url_host.h"

#include <gtest/gtest.h>

namespace skein::test {
namespace {

TEST(UrlHost, IsPlainInAscii) {
  for (const char* url :
       {"https://api.openai.com/v1", "http://127.0.0.1:8080", "http://[::1]:80/x",
        "http://[fe80::1%25eth0]/", "https://xn--penai-1ve.com", "${HOST}/x",
        "http://${HOST:-localhost}:1/", "https://example.org/caf\u00e9/%C3%A9", ""}) {
    EXPECT_TRUE(has_plain_host(url)) << url;
  }
}

TEST(UrlHost, IsNotPlainWithLettersThatLookLikeOthers) {
  for (const char* url :
       {"https://api.\u043epenai.com/v1", "https://api.openai.com\u2215x.evil.example/",
        "https://api.%D0%BEpenai.com", "${URL:-https://\u043epenai.com}", "\u043epenai.com",
        "http://good.example\\.evil.example/"}) {
    EXPECT_FALSE(has_plain_host(url)) << url;
  }
}

}  // namespace
}  // namespace skein::test
