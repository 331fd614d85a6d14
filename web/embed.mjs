// node embed.mjs DIST BYTES INDEX: all files that Vite left in DIST, one behind the other in BYTES, as
// they are and compressed, and in INDEX a line of C++ for each.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { extname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
};

const [dist, bytesFile, indexFile] = process.argv.slice(2);
const files = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(dist, join(entry.parentPath ?? entry.path, entry.name)))
  .sort();

const parts = [];
let size = 0;
function put(bytes) {
  parts.push(bytes);
  size += bytes.length;
  return size - bytes.length;
}

const lines = files.map((file) => {
  const bytes = readFileSync(join(dist, file));
  const type = types[extname(file)];
  if (!type) throw new Error(`${file}: what type is that?`);
  const packed = gzipSync(bytes, { level: 9 });
  const worth = packed.length < bytes.length * 0.9;
  const at = put(bytes);
  const packedAt = worth ? put(packed) : 0;
  const path = file === "index.html" ? "/" : "/" + file;
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 20);
  const immutable = file.startsWith("assets/");
  return `{${JSON.stringify(path)}, ${JSON.stringify(type)}, "\\"${hash}\\"", ${immutable}, ${at}, ${bytes.length}, ${packedAt}, ${worth ? packed.length : 0}},`;
});
writeFileSync(bytesFile, Buffer.concat(parts));
writeFileSync(indexFile, lines.join("\n") + "\n");
