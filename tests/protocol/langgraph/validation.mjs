// validation.mjs URL: runs LangGraph's validation suite for checkpoint savers on the saver in
// clients/, with the Skein at URL behind it. Prints {"passed":N,"failed":[names]}.
import { run } from "node:test";
import { fileURLToPath } from "node:url";

process.env.SKEIN_URL = process.argv[2];
const files = [fileURLToPath(new URL("./validation_suite.mjs", import.meta.url))];
let passed = 0;
const failed = [];
for await (const { type, data } of run({ files, timeout: 300_000 })) {
  if (data?.details?.type === "suite" || data?.skip !== undefined) continue;
  if (type === "test:pass" && data.name !== files[0]) passed += 1;
  if (type === "test:fail" && data.details?.error?.failureType === "testCodeFailure") {
    failed.push(data.name);
    process.stderr.write(`${data.name}: ${data.details.error.cause?.message ?? ""}\n`);
  }
  if (type === "test:stderr") process.stderr.write(data.message);
}
console.log(JSON.stringify({ passed, failed }));
