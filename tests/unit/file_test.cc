#include "core/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base64.h"
#include "support/expect.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

using testing::ElementsAre;

class Files : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  TempDir folder_;
  Flusher flusher_;
};

TEST_F(Files, ReplacedContentsAreReadBack) {
  must(replace_file(path("a"), "one", flusher_));
  must(replace_file(path("a"), "two!", flusher_));
  EXPECT_EQ(must(read_file(path("a"), 100)), "two!");
  EXPECT_THAT(must(list_folder(folder_.path().string())), ElementsAre(".", "..", "a"));
}

TEST_F(Files, ACreatedFileIsWholeAndNeverReplacesAnother) {
  EXPECT_TRUE(must(create_file(path("a"), "one", flusher_)));
  EXPECT_FALSE(must(create_file(path("a"), "two", flusher_)));
  EXPECT_EQ(must(read_file(path("a"), 100)), "one");
  EXPECT_TRUE(
      fails(create_file(path("no/a"), "x", flusher_), ErrorCode::kNotFound, {path("no/a")}));
  EXPECT_THAT(must(list_folder(folder_.path().string())), ElementsAre(".", "..", "a"));
}

TEST_F(Files, ALimitOnTheSizeIsNamed) {
  must(replace_file(path("a"), "12345", flusher_));
  EXPECT_TRUE(fails(read_file(path("a"), 4), ErrorCode::kIo, {path("a"), "4"}));
}

TEST_F(Files, AMissingFileIsNothing) {
  EXPECT_EQ(must(read_file(path("none"), 10)), std::nullopt);
  EXPECT_EQ(must(stat_file(path("none"))), std::nullopt);
  EXPECT_FALSE(must(remove_file(path("none"))));
  EXPECT_TRUE(fails(open_file(path("none"), O_RDONLY), ErrorCode::kNotFound, {path("none")}));
}

TEST_F(Files, LinksAndFoldersAreNotFiles) {
  must(replace_file(path("a"), "x", flusher_));
  std::filesystem::create_symlink(path("a"), path("link"));
  EXPECT_EQ(must(stat_file(path("link"))), std::nullopt);
  EXPECT_EQ(must(stat_file(folder_.path().string())), std::nullopt);
  EXPECT_TRUE(fails(open_file(path("link"), O_RDONLY), ErrorCode::kIo, {path("link")}));
}

TEST_F(Files, FoldersAreMadeWithThoseAbove) {
  must(make_folders(path("x/y/z"), flusher_));
  must(make_folders(path("x/y/z"), flusher_));
  EXPECT_TRUE(std::filesystem::is_directory(path("x/y/z")));
  must(replace_file(path("file"), "x", flusher_));
  EXPECT_TRUE(fails(make_folders(path("file"), flusher_), ErrorCode::kIo, {path("file")}));
}

TEST_F(Files, AFailedFlushIsRemembered) {
  const Fd nothing;
  EXPECT_TRUE(flusher_.check().has_value());
  EXPECT_TRUE(fails(flusher_.data(nothing, path("a")), ErrorCode::kIo, {path("a")}));
  EXPECT_TRUE(fails(flusher_.check(), ErrorCode::kIo, {"open the store again"}));
}

TEST(ParentFolder, IsWhatNamesTheFolderAbove) {
  EXPECT_EQ(parent_folder("/a/b"), "/a");
  EXPECT_EQ(parent_folder("/a"), "/");
  EXPECT_EQ(parent_folder("a"), ".");
  EXPECT_EQ(parent_folder("a/b/"), "a");
  EXPECT_EQ(parent_folder("/"), "/");
}

TEST(Base64, RoundTripsEveryLength) {
  std::string bytes;
  for (int i = 0; i < 70; ++i) {
    std::string text;
    append_base64(text, bytes);
    EXPECT_EQ(decode_base64(text), bytes);
    bytes.push_back(static_cast<char>(i * 37));
  }
  std::string text;
  append_base64(text, "any carnal pleas");
  EXPECT_EQ(text, "YW55IGNhcm5hbCBwbGVhcw==");
}

TEST(Base64, RefusesWhatIsNot) {
  for (const char* text : {"a", "abc", "ab=c", "a===", "ab!d", "=abc"}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace skein::test
