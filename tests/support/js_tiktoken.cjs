// Tokens as npm's js-tiktoken makes them: reads JSON strings, one a line, and answers each with a
// line [token, …]. With --fixture the answers are {"text":…,"tokens":[…]}, which is how
// tests/fixtures/tokens.jsonl was made.
const { execFileSync } = require('child_process');
const Module = require('module');
const path = require('path');
const readline = require('readline');

const npmFiles = path.join(__dirname, '..', '..', 'tools', 'npm_files');
const folder = (name) => execFileSync(npmFiles, ['path', name], { encoding: 'utf8' }).trim();

// The packages do not lie in a node_modules folder.
const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  const name = request === 'base64-js' ? path.join(folder('base64-js'), 'index.js') : request;
  return resolve.call(this, name, ...rest);
};
const { Tiktoken } = require(path.join(folder('js-tiktoken'), 'dist', 'lite.cjs'));
const encoding = new Tiktoken(
  require(path.join(folder('js-tiktoken'), 'dist', 'ranks', 'o200k_base.cjs')));

const fixture = process.argv[2] === '--fixture';
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const text = JSON.parse(line);
  const tokens = encoding.encode(text, [], []);
  console.log(JSON.stringify(fixture ? { text, tokens } : tokens));
});
