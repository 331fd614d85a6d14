// The parts of the page that need no browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Heights } from "../../web/src/lib/heights.ts";
import { plainText } from "../../web/src/lib/markdown_text.ts";
import { readEvents } from "../../clients/typescript/src/events.ts";
import { ticks } from "../../web/src/lib/ticks.ts";
import { Branches, Pairs, Summaries } from "../../web/src/thread/structure.ts";

// The same numbers each time.
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("heights add up as if they were added one by one", () => {
  const next = numbers(7);
  const heights = new Heights(50);
  let plain = [];
  for (let step = 0; step < 2000; ++step) {
    if (next(20) === 0) {
      const count = next(300);
      while (plain.length < count) plain.push(50);
      plain = plain.slice(0, count);
      heights.resize(count);
    } else if (plain.length > 0) {
      const index = next(plain.length);
      plain[index] = next(4) === 0 ? 0 : next(400);
      heights.set(index, plain[index]);
    }
    const total = plain.reduce((sum, one) => sum + one, 0);
    assert.equal(heights.total, total);
    if (plain.length === 0) continue;
    const index = next(plain.length);
    assert.equal(heights.top(index), plain.slice(0, index).reduce((sum, one) => sum + one, 0));
    if (total === 0) continue;
    const place = next(total);
    const row = heights.at(place);
    assert.ok(heights.top(row) <= place && place < heights.top(row) + plain[row], `row ${row} at ${place}`);
  }
});

test("a stream is read the same wherever it is cut", async () => {
  const text = ': hello\n\nid: 7\nevent: message\ndata: {"a":1}\n\ndata: [1,\r\ndata: "½"]\r\n\r\nevent: text\ndata:2\n\n';
  const wanted = [
    { event: "message", data: { a: 1 }, id: "7" },
    { event: "message", data: [1, "½"] },
    { event: "text", data: 2 },
  ];
  const bytes = new TextEncoder().encode(text);
  for (let cut = 0; cut <= bytes.length; ++cut) {
    const seen = [];
    const body = new ReadableStream({
      start: (stream) => {
        stream.enqueue(bytes.slice(0, cut));
        stream.enqueue(bytes.slice(cut));
        stream.close();
      },
    });
    for await (const event of readEvents(new Response(body))) seen.push(event);
    assert.deepEqual(seen, wanted);
  }
});

const event = (seq, more) => ({ type: "message", role: "user", seq, timestamp: "", ...more });

test("calls and answers find each other in whatever order they are read", () => {
  const call = event(3, { type: "tool_use", metadata: { tool_call_id: "c" } });
  const answer = event(5, { role: "tool", metadata: { tool_call_id: "c" } });
  for (const order of [[call, answer], [answer, call]]) {
    const pairs = new Pairs();
    for (const one of order) pairs.take(one);
    assert.equal(pairs.answerOf(3), 5);
    assert.equal(pairs.callOf(5), 3);
    assert.ok(pairs.isAnswer(5));
  }
  const alone = new Pairs();
  alone.take(answer);
  alone.take(event(9, { type: "tool_use", metadata: { tool_call_id: "c" } }));
  assert.equal(alone.isAnswer(5), false, "an answer does not come before its call");
});

test("what an edit left behind is aside, and only that", () => {
  const branches = new Branches();
  branches.take(event(6, { base: 2 }));
  branches.take(event(5, { base: 3 }));
  assert.deepEqual([1, 2, 3, 4, 5, 6].map((seq) => branches.isAside(seq)), [false, false, true, true, true, false]);
});

test("summaries are in force until they are undone or covered", () => {
  const summaries = new Summaries();
  const summary = (seq, covers) => event(seq, { role: "system", memoryType: "context_summary", metadata: { covers }, text: "s" });
  assert.equal(summaries.take(summary(11, [[1, 10]])), true);
  assert.equal(summaries.over(4).seq, 11);
  assert.equal(summaries.take(summary(21, [[1, 11], [13, 20]])), true);
  assert.equal(summaries.over(4).seq, 21);
  assert.equal(summaries.over(12), undefined);
  assert.equal(summaries.over(4).count, 19);
  assert.equal(summaries.take(event(22, { role: "system", metadata: { undoes: 21 } })), true);
  assert.equal(summaries.over(4).seq, 11);
  assert.equal(summaries.take(summary(30, "nonsense")), false);
  assert.equal(summaries.take(summary(31, [[5, 1], ["a", 2], [1]])), false);
});

test("an axis has a few round numbers, and no halves of what is counted", () => {
  assert.deepEqual(ticks(34, true), [0, 10, 20, 30, 40]);
  assert.deepEqual(ticks(2, true), [0, 1, 2]);
  assert.deepEqual(ticks(0, false), [0, 1]);
  assert.deepEqual(ticks(50, true), [0, 10, 20, 30, 40, 50]);
  assert.deepEqual(ticks(0.3, false).at(-1).toFixed(2), "0.30");
  const next = numbers(11);
  for (let step = 0; step < 2000; ++step) {
    const most = (next(1_000_000) + 1) / 10 ** next(8);
    const marks = ticks(most, false);
    assert.ok(marks.at(-1) >= most * 0.999999 && marks.at(-2) < most, `${most}: ${marks}`);
    assert.ok(marks.length >= 3 && marks.length <= 6, `${most}: ${marks}`);
  }
});

test("an excerpt has what Markdown says and not how it is marked", () => {
  const cases = [
    ["**Decided:** three `retry` attempts, _then_ stop", "Decided: three retry attempts, then stop"],
    ["# Plan\n\n- one\n- **two**\n\nrest", "Plan – one – two rest"],
    ["| a | b |\n|---|---|\n| 1 | *2* |", "a | b; 1 | 2"],
    ["[the docs](https://example.org/x) and <b>bold</b> \\*stars\\*", "the docs and <b>bold</b> *stars*"],
    ["```js\nlet a = 1;\n```", "let a = 1;"],
    ["2 * 3 * 4 = 24, snake_case_name", "2 * 3 * 4 = 24, snake_case_name"],
    ["cut in the **middle of", "cut in the **middle of"],
  ];
  for (const [markdown, text] of cases) assert.equal(plainText(markdown), text);
});
