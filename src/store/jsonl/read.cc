#include <algorithm>

#include "core/json.h"
#include "core/try.h"
#include "store/checks.h"
#include "store/codec.h"
#include "store/jsonl/store_impl.h"

namespace skein::jsonl {
namespace {

constexpr std::size_t kMarkEvery = 64;
constexpr Seq kFarAway = 512;
constexpr std::size_t kMostMarks = 100'000;
// Events of one step backwards, and how many bytes of them are read at once.
constexpr Seq kBlockEvents = 256;
constexpr std::uint64_t kBlockBytes = std::uint64_t{4} << 20;

void make_unreadable(Event& event, Seq seq, std::string_view reason, std::string_view raw) {
  event = Event{};
  event.seq = seq;
  event.payload = Unreadable{std::string(reason), std::string(raw)};
}

void decode(EventReader& reader, const Line& line, Event& event) {
  if (line.kind == Line::Kind::kVerified || line.kind == Line::Kind::kForeign) {
    const auto source =
        line.kind == Line::Kind::kVerified ? EventSource::kLine : EventSource::kForeign;
    if (auto read = reader.read_padded(line.text, source, event); !read) {
      make_unreadable(event, line.seq, read.error().message, line.text);
    }
    event.seq = line.seq;
    return;
  }
  make_unreadable(event, line.seq, line.reason, line.text);
}

void add_mark(std::vector<Mark>& marks, Mark mark) {
  if (marks.size() >= kMostMarks) marks.clear();
  const auto at = std::lower_bound(marks.begin(), marks.end(), mark.seq,
                                   [](const Mark& known, Seq seq) { return known.seq < seq; });
  if (at == marks.end() || at->seq != mark.seq) marks.insert(at, mark);
}

bool describes(const ReaderView& view, const ThreadFile& file) {
  return view.file && view.file->inode == file.inode;
}

// Forgets what was known of another file under the same name.
void follow_file(ThreadState& state, const std::shared_ptr<const ThreadFile>& file, Mark begin) {
  const std::lock_guard guard(state.reader_mutex);
  ReaderView& view = state.reader;
  if (describes(view, *file)) return;
  view = ReaderView{};
  view.file = file;
  view.branches_to = begin;
}

struct Extent {
  Line line;  // without text
  std::uint64_t length = 0;
};

}  // namespace

Result<Mark> JsonlStore::mark_for(ThreadState& state, const ThreadFile& file, Mark begin, Seq seq,
                                  const Tail& tail) {
  Mark near = begin;
  {
    const std::lock_guard guard(state.reader_mutex);
    const auto& marks = state.reader.marks;
    const auto after =
        std::upper_bound(marks.begin(), marks.end(), seq,
                         [](Seq wanted, const Mark& known) { return wanted < known.seq; });
    if (describes(state.reader, file) && after != marks.begin()) near = *std::prev(after);
  }
  std::vector<Mark> found;
  if (near.seq + kFarAway < seq) {
    SKEIN_ASSIGN(near, find_mark(file, near, seq, tail.size));
    found.push_back(near);
  }
  if (near.seq + kFarAway < seq) {
    LineWalker walker(file, near, tail.size, tail.last_claim);
    walker.skip_missing_before(seq);
    Line line;
    for (std::size_t i = 1; near.seq < seq; ++i) {
      SKEIN_ASSIGN(const bool more, walker.next(line));
      if (!more || line.seq > seq) break;
      if (i % kMarkEvery == 0 && walker.at_mark() && !line.misplaced()) {
        near = {line.seq, line.offset};
        found.push_back(near);
      }
    }
  }
  const std::lock_guard guard(state.reader_mutex);
  if (describes(state.reader, file)) {
    for (const Mark mark : found) add_mark(state.reader.marks, mark);
  }
  return near;
}

Result<std::vector<Branch>> JsonlStore::branches_of(ThreadState& state, const ThreadFile& file,
                                                    Mark begin, std::uint64_t size) {
  Mark from = begin;
  std::vector<Branch> branches;
  {
    const std::lock_guard guard(state.reader_mutex);
    if (describes(state.reader, file)) {
      from = state.reader.branches_to;
      branches = state.reader.branches;
    }
  }
  LineWalker walker(file, from, size);
  walker.skip_missing_before(kLastSeq);
  EventReader reader;
  Event event;
  Line line;
  while (true) {
    SKEIN_ASSIGN(const bool more, walker.next(line));
    if (!more) break;
    if (line.kind != Line::Kind::kVerified) continue;
    if (line.text.find(R"("base":)") == std::string_view::npos) continue;
    decode(reader, line, event);
    if (event.base && *event.base + 1 != line.seq) branches.push_back({line.seq, *event.base});
  }
  // The last line may still be on its way: only what ends in a newline is settled.
  const FileEnd& end = walker.file_end();
  const std::lock_guard guard(state.reader_mutex);
  if (describes(state.reader, file) && !end.newline_missing && !end.newline_damaged) {
    state.reader.branches_to = {walker.next_seq(), end.lines_end};
    state.reader.branches = branches;
  }
  return branches;
}

Result<void> JsonlStore::read_forward(LineWalker walker, SeqSpan span, std::uint64_t& left,
                                      const EventSink& sink, bool& stopped) {
  walker.skip_missing_before(span.first);
  EventReader reader;
  Event event;
  Line line;
  while (left > 0 && !stopped) {
    SKEIN_ASSIGN(const bool more, walker.next(line));
    if (!more || line.seq > span.last) break;
    if (line.seq < span.first) continue;
    decode(reader, line, event);
    --left;
    stopped = !sink(event);
  }
  return {};
}

Result<void> JsonlStore::read_backward(ThreadState& state, const ThreadFile& file, Mark begin,
                                       const Tail& tail, SeqSpan span, std::uint64_t& left,
                                       const EventSink& sink, bool& stopped) {
  EventReader reader;
  Event event;
  std::vector<Extent> extents;
  std::string block;
  while (left > 0 && !stopped && span.first <= span.last) {
    const Seq count = std::min({kBlockEvents, left, span.last - span.first + 1});
    const Seq first = span.last - count + 1;
    SKEIN_ASSIGN(const Mark mark, mark_for(state, file, begin, first, tail));
    LineWalker walker(file, mark, tail.size, tail.last_claim);
    walker.skip_missing_before(first);
    Line line;
    extents.clear();
    while (true) {
      SKEIN_ASSIGN(const bool more, walker.next(line));
      if (!more || line.seq > span.last) break;
      if (line.seq < first) continue;
      extents.push_back({line, line.text.size()});
    }
    std::uint64_t block_offset = 0;
    std::uint64_t block_end = 0;
    for (auto extent = extents.rbegin(); extent != extents.rend() && !stopped; ++extent) {
      const std::uint64_t end = extent->line.offset + extent->length;
      if (extent->length > 0 && (extent->line.offset < block_offset || end > block_end)) {
        block_end = end;
        block_offset = std::min(
            extent->line.offset,
            std::max(extents.front().line.offset, end > kBlockBytes ? end - kBlockBytes : 0));
        block.resize(block_end - block_offset + JsonObjectReader::kPadding);
        SKEIN_TRY(
            read_at(file.fd, file.path, block_offset, block.data(), block_end - block_offset));
      }
      extent->line.text = std::string_view(block).substr(
          extent->length > 0 ? extent->line.offset - block_offset : 0, extent->length);
      decode(reader, extent->line, event);
      --left;
      stopped = !sink(event);
    }
    span.last = first - 1;
  }
  return {};
}

Result<void> JsonlStore::read(ThreadId id, const ReadRange& range, const EventSink& sink) {
  SKEIN_ASSIGN(const auto agent, catalog_.locate(id));
  if (!agent) return {};
  SKEIN_ASSIGN(auto opened, open_thread(folder_->thread_path(*agent, id), O_RDONLY));
  if (!opened) return {};
  const auto file = std::make_shared<const ThreadFile>(std::move(*opened));
  SKEIN_ASSIGN(const auto stamp, stat_open(file->fd, file->path));
  SKEIN_ASSIGN(const Head head, read_head(*file, id));
  const Mark begin{1, head.width};
  std::uint64_t left = range.limit;
  bool stopped = false;
  if (range.view == View::kLog && range.direction == Direction::kForward && range.from <= 1 &&
      range.head == kLastSeq) {
    return read_forward(LineWalker(*file, begin, stamp.size), {1, kLastSeq}, left, sink, stopped);
  }
  const std::shared_ptr<ThreadState> state = threads_.get(id);
  follow_file(*state, file, begin);
  SKEIN_ASSIGN(const Tail tail, read_tail(*file, head.width, stamp.size));
  std::vector<Branch> branches;
  if (range.view == View::kPath) {
    SKEIN_ASSIGN(branches, branches_of(*state, *file, begin, stamp.size));
  }
  for (const SeqSpan& span : plan_read(range, tail.last_seq, branches)) {
    if (left == 0 || stopped) break;
    if (range.direction == Direction::kBackward) {
      SKEIN_TRY(read_backward(*state, *file, begin, tail, span, left, sink, stopped));
      continue;
    }
    SKEIN_ASSIGN(const Mark mark, mark_for(*state, *file, begin, span.first, tail));
    SKEIN_TRY(read_forward(LineWalker(*file, mark, tail.size, tail.last_claim), span, left, sink,
                           stopped));
  }
  return {};
}

}  // namespace skein::jsonl
