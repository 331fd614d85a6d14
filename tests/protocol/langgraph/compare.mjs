// compare.mjs REFERENCE DIFFERENCES: reads the driver's lines from standard input and compares them
// with those of the reference server. A call that is listed in DIFFERENCES must be as it says there.
// Prints what is otherwise, and fails if anything is.
import { readFileSync } from "node:fs";

const lines = (text) => text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
const [reference, differences] = process.argv.slice(2).map((file) => lines(readFileSync(file, "utf8")));
const ours = lines(readFileSync(0, "utf8"));
const listed = new Map(differences.map((difference) => [difference.call, difference]));

let wrong = 0;
function complain(call, wanted, got) {
  wrong += 1;
  console.log(`${call}\n  wanted ${JSON.stringify(wanted)}\n  got    ${JSON.stringify(got)}`);
}

const found = new Map(ours.map((line) => [line.call, line]));
for (const line of reference) {
  const got = found.get(line.call);
  const difference = listed.get(line.call);
  const wanted = difference ? { ...difference.skein, call: line.call } : line;
  const same = got && canonical(got) === canonical(wanted);
  if (!same) complain(line.call, wanted, got);
  if (difference && got && canonical(got) === canonical(line)) {
    complain(line.call, "to differ, as it is listed", got);
  }
  found.delete(line.call);
  listed.delete(line.call);
}
for (const [call, got] of found) complain(call, "nothing: the reference has no such call", got);
for (const call of listed.keys()) complain(call, "a call of the driver", "only a difference");
console.log(`${reference.length} calls, ${differences.length} listed differences, ${wrong} others`);
process.exit(wrong === 0 ? 0 : 1);

function canonical(value) {
  return JSON.stringify(value, (name, member) =>
    member && typeof member === "object" && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member);
}
