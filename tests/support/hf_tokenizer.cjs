// Word pieces as npm's @huggingface/tokenizers makes them: reads JSON strings, one a line, and answers
// each with a line [id, …], [CLS] and [SEP] included. The argument is the folder of a model. With
// --fixture after it the answers are {"text":…,"ids":[…]}, which is how
// tests/fixtures/word_pieces.jsonl was made.
const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');

const npmFiles = path.join(__dirname, '..', '..', 'tools', 'npm_files');
const folder = execFileSync(npmFiles, ['path', '@huggingface/tokenizers'], { encoding: 'utf8' }).trim();
const { Tokenizer } = require(path.join(folder, 'dist', 'tokenizers.cjs'));

const json = (name) => JSON.parse(fs.readFileSync(path.join(process.argv[2], name), 'utf8'));
const tokenizer = new Tokenizer(json('tokenizer.json'), json('tokenizer_config.json'));

const fixture = process.argv[3] === '--fixture';
// Not by readline, which takes U+2028 for the end of a line.
for (const line of fs.readFileSync(0, 'utf8').split('\n')) {
  if (line === '') continue;
  const text = JSON.parse(line);
  const ids = Array.from(tokenizer.encode(text).ids);
  console.log(JSON.stringify(fixture ? { text, ids } : ids));
}
