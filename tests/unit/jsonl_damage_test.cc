// Files of ours that were damaged.
#include <fcntl.h>

#include "skein/limits.h"
#include "store/jsonl/line_walker.h"
#include "store/line.h"
#include "unit/jsonl_fixture.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class DamagedFiles : public JsonlFolder {
 protected:
  void SetUp() override {
    const auto store = open();
    manifest_ = create_thread(*store, "agent", {message("one"), message("two"), message("three")});
    must_append(*store, manifest_.id, message("four"));
    file_ = thread_path(manifest_.id);
    bytes_ = bytes_of(file_);
  }

  // Where line `number` begins; line 1 is the manifest.
  std::size_t line_at(int number) const {
    std::size_t at = 0;
    for (int i = 1; i < number; ++i) at = bytes_.find('\n', at) + 1;
    return at;
  }

  Manifest manifest_;
  std::filesystem::path file_;
  std::string bytes_;
};

TEST_F(DamagedFiles, ADamagedLineInTheMiddleKeepsItsPosition) {
  bytes_[bytes_.find("two")] ^= 4;
  write_bytes(file_, bytes_);
  const auto store = open();
  const std::vector<Event> events = read_all(*store, manifest_.id);
  ASSERT_THAT(events, SizeIs(4));
  EXPECT_EQ(unreadable_reason(events[1]), "checksum mismatch");
  EXPECT_EQ(events[1].seq, 2U);
  EXPECT_EQ(text_of(events[2]), "three");
  EXPECT_THAT(broken(check(*store)), ElementsAre("checksum mismatch"));
  EXPECT_EQ(must_append(*store, manifest_.id, message("five")), 5U);
}

TEST_F(DamagedFiles, ADamagedFrameIsNotTakenForAnotherProgramsLine) {
  const std::size_t newline = bytes_.find('\n', line_at(3));
  for (std::size_t back = 1; back <= kFrameBytes; ++back) {
    std::string spoilt = bytes_;
    spoilt[newline - back] ^= 1;
    write_bytes(file_, spoilt);
    const auto store = open();
    const std::vector<Event> events = read_all(*store, manifest_.id);
    ASSERT_THAT(events, SizeIs(4)) << back;
    EXPECT_NE(unreadable_reason(events[1]), "") << back;
    EXPECT_THAT(broken(check(*store)), SizeIs(1)) << back;
  }
}

TEST_F(DamagedFiles, AnyFlippedByteOfTheEventsIsReadAroundAndFound) {
  for (std::size_t at = line_at(2); at < bytes_.size(); ++at) {
    for (const char flip : {'\x01', '\x20', '\x80'}) {
      std::string spoilt = bytes_;
      spoilt[at] = static_cast<char>(spoilt[at] ^ flip);
      write_bytes(file_, spoilt);
      const auto store = open();
      const std::vector<Event> events = read_all(*store, manifest_.id);
      ASSERT_THAT(events, SizeIs(4)) << at;
      int intact = 0;
      for (std::size_t i = 0; i < events.size(); ++i) {
        EXPECT_EQ(events[i].seq, i + 1);
        if (unreadable_reason(events[i]).empty()) {
          ++intact;
          EXPECT_EQ(text_of(events[i]), std::vector({"one", "two", "three", "four"})[i]) << at;
        }
      }
      EXPECT_GE(intact, 3) << at;
      if (intact == 4) EXPECT_EQ(bytes_[at], '\n') << at;
      EXPECT_EQ(get_thread(*store, manifest_.id).last_seq, 4U) << at;
    }
  }
}

TEST_F(DamagedFiles, AByteThatBecameANewlineShiftsNothing) {
  for (std::size_t at = line_at(3); at < line_at(4) - 1; ++at) {
    std::string spoilt = bytes_;
    spoilt[at] = '\n';
    write_bytes(file_, spoilt);
    const auto store = open();
    const std::vector<Event> events = read_all(*store, manifest_.id);
    ASSERT_THAT(events, SizeIs(4)) << at;
    EXPECT_NE(unreadable_reason(events[1]), "") << at;
    EXPECT_EQ(text_of(events[2]), "three") << at;
    EXPECT_EQ(text_of(events[3]), "four") << at;
  }
}

TEST_F(DamagedFiles, AMissingLineIsAPositionThatCannotBeRead) {
  bytes_.erase(line_at(3), line_at(4) - line_at(3));
  write_bytes(file_, bytes_);
  const auto store = open();
  const std::vector<Event> events = read_all(*store, manifest_.id);
  ASSERT_THAT(events, SizeIs(4));
  EXPECT_THAT(unreadable_reason(events[1]), HasSubstr("missing"));
  EXPECT_EQ(text_of(events[2]), "three");
  EXPECT_THAT(broken(check(*store)), ElementsAre(HasSubstr("missing")));
  ReadRange backward;
  backward.direction = Direction::kBackward;
  EXPECT_THAT(read_seqs(*store, manifest_.id, backward), ElementsAre(4, 3, 2, 1));
}

TEST_F(DamagedFiles, LinesAfterALossKeepTheirPositions) {
  {
    const auto store = open();
    std::vector<Append> appends;
    for (Seq seq = 5; seq <= 5000; ++seq) {
      appends.push_back({manifest_.id, message("m" + std::to_string(seq)), {}, {}});
      if (appends.size() < 1000 && seq < 5000) continue;
      for (const auto& appended : store->append(appends)) ASSERT_TRUE(ok(appended));
      appends.clear();
    }
  }
  const std::string whole = bytes_of(file_);
  for (const Seq lost : {900, 4000, 4900, 4999}) {
    SCOPED_TRACE(lost);
    bytes_ = whole;
    const std::size_t begin = line_at(2);
    bytes_.erase(begin, line_at(static_cast<int>(lost) + 2) - begin);
    write_bytes(file_, bytes_);
    const auto store = open();
    const std::vector<Event> events = read_all(*store, manifest_.id);
    ASSERT_THAT(events, SizeIs(5000));
    for (Seq seq = 1; seq <= lost; ++seq) ASSERT_NE(unreadable_reason(events[seq - 1]), "") << seq;
    for (Seq seq = lost + 1; seq <= 5000; ++seq) {
      ASSERT_EQ(text_of(events[seq - 1]), "m" + std::to_string(seq));
    }
    ReadRange backward;
    backward.direction = Direction::kBackward;
    backward.limit = 5000 - lost + 1;
    const std::vector<Event> newest = read_all(*store, manifest_.id, backward);
    EXPECT_EQ(text_of(newest[newest.size() - 2]), "m" + std::to_string(lost + 1));
    EXPECT_NE(unreadable_reason(newest.back()), "");
    EXPECT_THAT(broken(check(*store)), ElementsAre(HasSubstr(std::to_string(lost) + " events")));
  }
  EXPECT_EQ(must_append(*open(), manifest_.id, message("next")), 5001U);
}

TEST_F(DamagedFiles, APositionFarBeyondTheFileIsNotBelieved) {
  for (const Seq claimed : {Seq{2'000'000}, Seq{1} << 40}) {
    std::string far;
    append_event_line(far, message("far"), claimed);
    append_event_line(far, message("farther"), claimed + 1);
    write_bytes(file_, bytes_ + far);
    const auto store = open();
    EXPECT_EQ(get_thread(*store, manifest_.id).last_seq, 6U);
    const std::vector<Event> events = read_all(*store, manifest_.id);
    ASSERT_THAT(events, SizeIs(6));
    EXPECT_EQ(text_of(events[3]), "four");
    const auto* unreadable = std::get_if<Unreadable>(&events[4].payload);
    ASSERT_NE(unreadable, nullptr) << "it is not delivered under another position";
    EXPECT_THAT(unreadable->raw, HasSubstr("far"));
    EXPECT_THAT(broken(check(*store)),
                testing::IsSupersetOf({HasSubstr("event " + std::to_string(claimed)),
                                       HasSubstr("event " + std::to_string(claimed + 1))}));
    EXPECT_EQ(must_append(*store, manifest_.id, message("seven")), 7U);
    EXPECT_THAT(read_all(*open(), manifest_.id), SizeIs(7));
  }
}

TEST_F(DamagedFiles, AWalkSkipsAGapInOneStep) {
  std::string far;
  append_event_line(far, message("far"), 1'000'000);
  write_bytes(file_, bytes_ + far);
  const jsonl::ThreadFile file{must(open_file(file_.string(), O_RDONLY)), file_.string()};
  jsonl::LineWalker walker(file, {1, line_at(2)}, bytes_.size() + far.size());
  walker.skip_missing_before(999'998);
  std::vector<Seq> seqs;
  for (jsonl::Line line; seqs.size() < 10 && must(walker.next(line));) seqs.push_back(line.seq);
  EXPECT_THAT(seqs, ElementsAre(1, 2, 3, 4, 999'998, 999'999, 1'000'000));
}

TEST_F(DamagedFiles, APositionBeyondTheLastLineIsNotBelieved) {
  std::string pasted;
  append_event_line(pasted, message("pasted"), 500);
  bytes_.insert(line_at(4), pasted);
  write_bytes(file_, bytes_);
  const auto store = open();
  EXPECT_THAT(texts(read_all(*store, manifest_.id)), ElementsAre("one", "two", "three", "four"));
  EXPECT_THAT(broken(check(*store)), ElementsAre(HasSubstr("event 500")));
  EXPECT_EQ(must_append(*store, manifest_.id, message("five")), 5U);
  EXPECT_EQ(text_of(read_all(*store, manifest_.id).back()), "five");
}

TEST_F(DamagedFiles, AFileThatWasCutAtALineIsFoundByTheFeed) {
  bytes_.resize(line_at(4));
  write_bytes(file_, bytes_);
  const auto store = open();
  EXPECT_THAT(broken(check(*store)), ElementsAre("2 events are missing at the end"));
}

TEST_F(DamagedFiles, AnyFlippedByteOfLineOneIsFoundAndCostsNoEvents) {
  const std::size_t end = line_at(2);
  for (std::size_t at = 0; at < end; ++at) {
    for (const char flip : {'\x01', '\x2a'}) {  // a space becomes a newline by the second
      std::string spoilt = bytes_;
      spoilt[at] = static_cast<char>(spoilt[at] ^ flip);
      write_bytes(file_, spoilt);
      const auto store = open();
      EXPECT_THAT(texts(read_all(*store, manifest_.id)), ElementsAre("one", "two", "three", "four"))
          << at;
      const auto read = store->get(manifest_.id);
      if (read.has_value()) {
        ASSERT_TRUE(read->has_value());
        EXPECT_EQ(describe(**read), describe(get_thread(*store, manifest_.id)));
        EXPECT_EQ((*read)->agent_id, "agent");
      } else {
        EXPECT_EQ(read.error().code, ErrorCode::kDamaged) << at;
      }
      EXPECT_THAT(broken(check(*store)), testing::Not(IsEmpty())) << at;
      if (read.has_value()) {
        check(*store, true);
        EXPECT_EQ(bytes_of(file_), bytes_) << at;
      }
    }
  }
}

TEST_F(DamagedFiles, ADamagedThreadLeavesTheOthersAlone) {
  bytes_[3] ^= 1;
  write_bytes(file_, bytes_);
  const auto store = open();
  const Manifest other = create_thread(*store, "agent", {message("fine")});
  EXPECT_TRUE(fails(store->get(manifest_.id), ErrorCode::kDamaged));
  EXPECT_TRUE(fails(append_one(*store, manifest_.id, message("x")), ErrorCode::kDamaged));
  EXPECT_THAT(list_all_ids(*store, {}), ElementsAre(other.id));
  EXPECT_THAT(notices_, testing::Contains(HasSubstr("line 1")));
  EXPECT_THAT(texts(read_all(*store, other.id)), ElementsAre("fine"));
}

TEST_F(DamagedFiles, ALineThatAnotherProcessPutWhereATornOneWasIsSeen) {
  const auto before = bytes_.size();
  must_append(*open(), manifest_.id, message("five"));
  const auto length = bytes_of(file_).size() - before;
  // As a power cut leaves it: the file has its new size, and nothing was written there.
  write_bytes(file_, bytes_ + std::string(length, '\0'));
  const auto here = open();
  const auto there = open();
  EXPECT_EQ(get_thread(*here, manifest_.id).last_seq, 4U);
  EXPECT_EQ(must_append(*there, manifest_.id, message("five")), 5U);
  ASSERT_EQ(bytes_of(file_).size(), before + length);
  EXPECT_EQ(must_append(*here, manifest_.id, message("six")), 6U);
  EXPECT_THAT(texts(read_all(*here, manifest_.id)),
              ElementsAre("one", "two", "three", "four", "five", "six"));
}

TEST_F(DamagedFiles, WhoeverIsToldOfADamagedEventMayWriteToItsThread) {
  bytes_[line_at(3) + 20] ^= 1;
  write_bytes(file_, bytes_);
  const auto store = open();
  add_bytes(path(".skein/records.jsonl"), "damaged\n");
  int told = 0;
  must(store->check({}, [&](const Finding&) {
    must_append(*store, manifest_.id, message("seen"));
    must(store->write(std::vector{record("seen", std::to_string(++told), "")}));
  }));
  EXPECT_EQ(told, 2);
}

TEST_F(DamagedFiles, ALineFullOfPlacesThatLookLikeItsEndIsReadInOneGo) {
  std::string line = R"({"a":[)";
  while (line.size() < limits::kMaxEventBytes) line += R"({"b":1,"crc":"00000000"},)";
  line += R"({}])";
  close_line(line, 0);
  const std::size_t length = line.size();
  EXPECT_EQ(verified_prefix(line), 0U) << "it has nothing after it";
  line += "Xand more";
  EXPECT_EQ(verified_prefix(line), length);
}

TEST_F(DamagedFiles, ADamagedLeaseIsNobodysAndCanBeTaken) {
  const auto store = open();
  const auto take = [&] {
    return store->lease(manifest_.id, "holder", std::chrono::seconds(60), std::nullopt);
  };
  const Lease before = must(take());
  const auto lease_file = path(".skein/leases") / manifest_.id.str();
  std::string spoilt = bytes_of(lease_file);
  spoilt[spoilt.find("holder") + 12] ^= 1;
  write_bytes(lease_file, spoilt);
  const Append late{manifest_.id, message("late"), before.token, {}};
  EXPECT_TRUE(fails(store->append({&late, 1})[0], ErrorCode::kFenced));
  EXPECT_THAT(broken(check(*store)), ElementsAre("the lease does not match its checksum"));
  const Lease after = must(take());
  EXPECT_NE(after.token, before.token);
  EXPECT_THAT(broken(check(*store)), IsEmpty());
}

TEST_F(DamagedFiles, RepairTakesADamagedLeaseAway) {
  const auto store = open();
  must(store->lease(manifest_.id, "holder", std::chrono::seconds(60), std::nullopt));
  const auto lease_file = path(".skein/leases") / manifest_.id.str();
  write_bytes(lease_file, bytes_of(lease_file).substr(0, 20));
  check(*store, true);
  EXPECT_FALSE(std::filesystem::exists(lease_file));
}

}  // namespace
}  // namespace skein::test
