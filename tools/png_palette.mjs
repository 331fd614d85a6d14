// A screenshot with 256 colours: a third of the bytes, and nothing that the eye would miss.
import { crc32, deflateSync, inflateSync } from "node:zlib";

const kColours = 256;
const kCommon = 160; // of these, the most frequent ones; the others are those that lie farthest from what there is

// `png` as Chromium makes it: three bytes a pixel, not interlaced.
export function withPalette(png) {
  const { width, height, pixels } = decoded(png);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const { palette, nearest } = chosen(counts);
  const rows = Buffer.alloc(height * (width + 1)); // each row begins with its filter: none
  pixels.forEach((pixel, at) => (rows[at + Math.floor(at / width) + 1] = nearest.get(pixel)));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    png.subarray(0, 8),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flatMap(parts))),
    chunk("IDAT", deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const parts = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];
const distance = (one, other) => parts(one).reduce((sum, part, index) => sum + (part - parts(other)[index]) ** 2, 0);

function chosen(counts) {
  const byCount = [...counts.keys()].sort((one, other) => counts.get(other) - counts.get(one));
  const palette = [];
  const nearest = new Map(); // the index in the palette
  const away = new Map(byCount.map((colour) => [colour, Infinity]));
  const take = (taken) => {
    for (const colour of byCount) {
      const far = distance(colour, taken);
      if (far >= away.get(colour)) continue;
      away.set(colour, far);
      nearest.set(colour, palette.length);
    }
    palette.push(taken);
  };
  for (const colour of byCount.slice(0, kCommon)) take(colour);
  while (palette.length < Math.min(kColours, byCount.length)) {
    take(byCount.reduce((best, colour) => (away.get(colour) > away.get(best) ? colour : best)));
  }
  return { palette, nearest };
}

function chunk(type, data) {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, "latin1");
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}

function decoded(png) {
  const data = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const [width, height, kind] = [png.readUInt32BE(16), png.readUInt32BE(20), png.readUInt32BE(24)];
  if (kind >>> 16 !== 0x0802) throw new Error("not a picture with three bytes a pixel");
  const rows = inflateSync(Buffer.concat(data));
  const stride = width * 3;
  let above = Buffer.alloc(stride);
  const pixels = [];
  for (let y = 0; y < height; ++y) {
    const filter = rows[y * (stride + 1)];
    const row = Buffer.from(rows.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1)));
    for (let x = 0; x < stride; ++x) {
      const left = x < 3 ? 0 : row[x - 3];
      row[x] += predicted(filter, left, above[x], x < 3 ? 0 : above[x - 3]);
    }
    for (let x = 0; x < stride; x += 3) pixels.push((row[x] << 16) | (row[x + 1] << 8) | row[x + 2]);
    above = row;
  }
  return { width, height, pixels };
}

function predicted(filter, left, up, corner) {
  if (filter < 3) return [0, left, up][filter];
  if (filter === 3) return (left + up) >> 1;
  const [byLeft, byUp, byCorner] = [left, up, corner].map((one) => Math.abs(left + up - corner - one));
  return byLeft <= byUp && byLeft <= byCorner ? left : byUp <= byCorner ? up : corner;
}
