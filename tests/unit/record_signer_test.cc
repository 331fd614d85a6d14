// Signatures of records, and the secret that makes them.
#include "skein/record_signer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "api/signing_secret.h"
#include "support/expect.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

const std::string kSecret(64, 'a');

TEST(RecordSigner, SignsWithTheLastMemberOfTheObject) {
  const RecordSigner signer(kSecret, "/srv/project");
  const std::string bytes = must(signer.sign("keys", "k1", R"({"id":"k1"})"));
  EXPECT_THAT(bytes, MatchesRegex(R"(\{"id":"k1","hmac":"[0-9a-f]{64}"\})"));
  EXPECT_TRUE(signer.verifies("keys", "k1", bytes));
  EXPECT_EQ(without_signature(bytes), R"({"id":"k1"})");
  EXPECT_EQ(without_signature(must(signer.sign("keys", "k1", "{}"))), "{}");
  EXPECT_EQ(must(signer.sign("keys", "k1", bytes)), bytes);
}

TEST(RecordSigner, CoversWorkspaceCollectionKeyAndBytes) {
  const RecordSigner signer(kSecret, "/a");
  const std::string bytes = must(signer.sign("keys", "k1", R"({"access":"read"})"));
  EXPECT_FALSE(signer.verifies("tasks", "k1", bytes));
  EXPECT_FALSE(signer.verifies("keys", "k2", bytes));
  EXPECT_FALSE(RecordSigner(kSecret, "/b").verifies("keys", "k1", bytes));
  EXPECT_FALSE(RecordSigner(std::string(64, 'b'), "/a").verifies("keys", "k1", bytes));
  std::string changed = bytes;
  changed.replace(changed.find("read"), 4, "admi");
  EXPECT_FALSE(signer.verifies("keys", "k1", changed));
  EXPECT_FALSE(signer.verifies("keys", "k1", without_signature(bytes)));
  EXPECT_FALSE(signer.verifies("keys", "k1", ""));
  EXPECT_FALSE(signer.verifies("keys", "k1", "\"}"));
}

// Parts that add up to the same text when they are joined are different records.
TEST(RecordSigner, TellsWhereOnePartEndsAndTheNextBegins) {
  const RecordSigner signer(kSecret, "/a");
  const std::string bytes = must(signer.sign("keys", "k1", "{}"));
  EXPECT_FALSE(signer.verifies("key", "sk1", bytes));
  EXPECT_FALSE(signer.verifies("keysk", "1", bytes));
}

TEST(RecordSigner, RefusesToSignWhatIsNoObject) {
  const RecordSigner signer(kSecret, "/a");
  for (const char* bytes : {"", "[]", "{} ", "{}\n", "null", R"("x")"}) {
    EXPECT_TRUE(fails(signer.sign("keys", "k1", bytes), ErrorCode::kInvalid, {"k1", "keys"}))
        << bytes;
  }
}

// --- The secret ---

class SigningSecretFile : public testing::Test {
 protected:
  std::shared_ptr<const RecordSigner> signer() const {
    return std::make_shared<RecordSigner>(secret_in(folder(), workspace()), workspace().string());
  }
  fs::path folder() const { return user_.path() / "skein"; }
  fs::path file() const { return folder() / "secret"; }
  fs::path workspace() const { return workspace_.path(); }
  static unsigned mode_of(const fs::path& path) {
    struct stat st{};
    EXPECT_EQ(::lstat(path.c_str(), &st), 0) << path;
    return st.st_mode & 07777U;
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  const TempDir user_;
  const TempDir workspace_;
};

TEST_F(SigningSecretFile, IsMadeByTheFirstSignatureAndReadableByItsOwnerAlone) {
  const mode_t before = ::umask(0);
  const std::string bytes = must(signer()->sign("keys", "k1", "{}"));
  ::umask(before);
  EXPECT_EQ(mode_of(file()), 0600U);
  EXPECT_EQ(mode_of(folder()), 0700U);
  EXPECT_THAT(text_of(file()), MatchesRegex("[0-9a-f]{64}\n"));
  EXPECT_TRUE(signer()->verifies("keys", "k1", bytes));
}

TEST_F(SigningSecretFile, IsNotMadeByVerification) {
  const RecordSigner other(kSecret, workspace().string());
  EXPECT_FALSE(signer()->verifies("keys", "k1", must(other.sign("keys", "k1", "{}"))));
  EXPECT_FALSE(fs::exists(folder()));
  EXPECT_THAT(signer()->why_inert(), HasSubstr("skein trust"));
}

TEST_F(SigningSecretFile, IsFoundByASignerThatLookedBeforeItWasMade) {
  const auto early = signer();
  const RecordSigner other(kSecret, workspace().string());
  EXPECT_FALSE(early->verifies("keys", "k1", must(other.sign("keys", "k1", "{}"))));
  EXPECT_TRUE(early->verifies("keys", "k1", must(signer()->sign("keys", "k1", "{}"))));
}

TEST_F(SigningSecretFile, IsTheSameForAllWhoMakeItAtOnce) {
  std::vector<std::string> signatures(8);
  {
    std::vector<std::jthread> makers;
    for (std::string& signature : signatures) {
      makers.emplace_back([&] { signature = must(signer()->sign("keys", "k1", "{}")); });
    }
  }
  EXPECT_THAT(signatures, testing::Each(signatures.front()));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder()), fs::directory_iterator()), 1);
}

TEST_F(SigningSecretFile, IsRefusedWhereOthersCanReadIt) {
  const std::string bytes = must(signer()->sign("keys", "k1", "{}"));
  ::chmod(file().c_str(), 0640);
  EXPECT_FALSE(signer()->verifies("keys", "k1", bytes));
  EXPECT_THAT(signer()->why_inert(), HasSubstr("chmod 600 " + file().string()));
  EXPECT_TRUE(fails(signer()->sign("keys", "k1", "{}"), ErrorCode::kInvalid,
                    {file().string(), "0640", "chmod 600"}));
  ::chmod(file().c_str(), 0600);
  EXPECT_TRUE(signer()->verifies("keys", "k1", bytes));
}

TEST_F(SigningSecretFile, IsRefusedInAFolderThatOthersCanWrite) {
  must(signer()->sign("keys", "k1", "{}"));
  ::chmod(folder().c_str(), 0777);
  EXPECT_TRUE(fails(signer()->sign("keys", "k1", "{}"), ErrorCode::kInvalid, {"chmod o-w"}));
}

TEST_F(SigningSecretFile, IsUsedInAFolderThatItsGroupCanWrite) {
  fs::create_directory(folder());
  ::chmod(folder().c_str(), 0775);
  const std::string bytes = must(signer()->sign("keys", "k1", "{}"));
  EXPECT_TRUE(signer()->verifies("keys", "k1", bytes));
  EXPECT_EQ(mode_of(file()), 0600U);
}

TEST_F(SigningSecretFile, ThatCannotBeMadeNamesTheFolderOfServices) {
  std::ofstream(folder()) << "a file";
  const RecordSigner signer(secret_in(folder() / "skein", workspace()), workspace().string());
  EXPECT_TRUE(fails(signer.sign("keys", "k1", "{}"), ErrorCode::kIo,
                    {folder().string(), "STATE_DIRECTORY"}));
}

TEST_F(SigningSecretFile, IsRefusedAsASymbolicLink) {
  fs::create_directory(folder());
  ::chmod(folder().c_str(), 0700);
  std::ofstream(workspace() / "planted") << kSecret;
  fs::create_symlink(workspace() / "planted", file());
  EXPECT_TRUE(fails(signer()->sign("keys", "k1", "{}"), ErrorCode::kInvalid, {"symbolic link"}));
  fs::remove(file());
  fs::create_symlink("nowhere", file());
  EXPECT_TRUE(fails(signer()->sign("keys", "k1", "{}"), ErrorCode::kInvalid, {"symbolic link"}));
}

TEST_F(SigningSecretFile, IsRefusedInALinkedFolder) {
  fs::create_directory(user_.path() / "elsewhere");
  fs::create_directory_symlink("elsewhere", folder());
  EXPECT_TRUE(fails(signer()->sign("keys", "k1", "{}"), ErrorCode::kInvalid, {"symbolic link"}));
}

TEST_F(SigningSecretFile, IsRefusedWithOtherContents) {
  fs::create_directory(folder());
  std::ofstream(file()) << "short\n";
  ::chmod(file().c_str(), 0600);
  ::chmod(folder().c_str(), 0700);
  EXPECT_TRUE(fails(signer()->sign("keys", "k1", "{}"), ErrorCode::kInvalid, {"64 hex digits"}));
  EXPECT_EQ(text_of(file()), "short\n");
}

TEST_F(SigningSecretFile, IsRefusedInsideTheWorkspace) {
  const RecordSigner inside(secret_in(workspace() / ".config/skein", workspace()),
                            workspace().string());
  EXPECT_TRUE(fails(inside.sign("keys", "k1", "{}"), ErrorCode::kInvalid,
                    {"inside the workspace", "XDG_CONFIG_HOME"}));
  EXPECT_FALSE(fs::exists(workspace() / ".config"));
  // Nor by a link into it.
  fs::create_directory_symlink(workspace(), user_.path() / "link");
  const RecordSigner linked(secret_in(user_.path() / "link/skein", workspace()),
                            workspace().string());
  EXPECT_TRUE(fails(linked.sign("keys", "k1", "{}"), ErrorCode::kInvalid, {"inside"}));
}

TEST_F(SigningSecretFile, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  must(signer()->sign("keys", "k1", "{}"));
  ASSERT_EQ(::chown(file().c_str(), 65534, 65534), 0);
  EXPECT_TRUE(fails(signer()->sign("keys", "k1", "{}"), ErrorCode::kInvalid, {"65534"}));
}

// --- Which stores need signatures ---

class SignersOfStores : public testing::Test {
 protected:
  bool needs_signatures(const std::string& url) const {
    return needs_signatures(url, workspace_.path());
  }
  static bool needs_signatures(const std::string& url, const fs::path& workspace) {
    Settings settings;
    settings.workspace = workspace;
    return signer_of_store(settings, url) != nullptr;
  }
  const TempDir workspace_;
  const TempDir elsewhere_;
};

TEST_F(SignersOfStores, AreForFilesInsideTheWorkspaceOnly) {
  const std::string inside = workspace_.path().string();
  EXPECT_TRUE(needs_signatures("sqlite:" + inside + "/.skein/skein.db"));
  EXPECT_TRUE(needs_signatures("jsonl:" + inside + "/workspace/agents"));
  EXPECT_TRUE(needs_signatures("jsonl:" + inside));
  EXPECT_FALSE(needs_signatures("sqlite:" + elsewhere_.path().string() + "/skein.db"));
  EXPECT_FALSE(needs_signatures("sqlite:" + inside + "-more/skein.db"));
  EXPECT_FALSE(needs_signatures("sqlite:" + inside + "/../skein.db"));
  EXPECT_FALSE(needs_signatures("memory:"));
  EXPECT_FALSE(needs_signatures("postgres://u@db.example/skein"));
}

// A link that leads out of the workspace came with it; one that leads into it reaches its files.
TEST_F(SignersOfStores, SeeThroughSymbolicLinks) {
  fs::create_directory_symlink(elsewhere_.path(), workspace_.path() / ".skein");
  EXPECT_TRUE(needs_signatures("sqlite:" + workspace_.path().string() + "/.skein/skein.db"));
  fs::create_directory_symlink(workspace_.path(), elsewhere_.path() / "link");
  EXPECT_TRUE(needs_signatures("sqlite:" + elsewhere_.path().string() + "/link/skein.db"));
  // Also when the workspace itself is named by a link, with a slash at its end.
  const TempDir names;
  fs::create_directory_symlink(workspace_.path(), names.path() / "project");
  const std::string named = (names.path() / "project/").string();
  EXPECT_TRUE(needs_signatures("sqlite:" + named + ".skein/skein.db", named));
}

}  // namespace
}  // namespace skein::test
