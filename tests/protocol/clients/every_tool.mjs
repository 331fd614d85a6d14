// Calls everything that Skein's MCP server has, as the official clients do, and prints what came back.
//
//   every_tool.mjs sdk|client stdio PROGRAM ARGUMENT…
//   every_tool.mjs sdk|client http URL [KEY]
//
// "sdk" speaks 2025-11-25, "client" 2026-07-28. Both compare structured content with its schema.
const [, , which, transport, ...where] = process.argv;

async function connect() {
  const headers = where[1] ? { Authorization: `Bearer ${where[1]}` } : {};
  if (which === 'sdk') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const client = new Client({ name: 'every-tool', version: '1.0.0' }, { capabilities: {} });
    if (transport === 'stdio') {
      const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
      await client.connect(new StdioClientTransport({ command: where[0], args: where.slice(1), env: process.env }));
    } else {
      const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
      await client.connect(new StreamableHTTPClientTransport(new URL(where[0]), { requestInit: { headers } }));
    }
    return client;
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'every-tool', version: '1.0.0' },
    { capabilities: {}, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  if (transport === 'stdio') {
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    await client.connect(new StdioClientTransport({ command: where[0], args: where.slice(1), env: process.env }));
  } else {
    await client.connect(new StreamableHTTPClientTransport(new URL(where[0]), { requestInit: { headers } }));
  }
  return client;
}

const client = await connect();
const results = {};
let last;

async function call(name, args) {
  last = await client.callTool({ name, arguments: args });
  if (!results[name]) results[name] = [];
  results[name].push({
    text: last.content.map((block) => block.text).join('\n'),
    structured: last.structuredContent,
    isError: last.isError === true,
  });
  return last.structuredContent;
}

const { tools } = await client.listTools();
const session = await call('session_start', { agent: 'tester', project: 'everything' });
const item = await call('create_thread', { text: 'The parser loses the last line', project: 'everything' });
await call('create_thread', { text: 'The parser loses the last line', project: 'everything' });
await call('create_thread', { txt: 'wrong', text: 7 });
await call('list_threads', { project: 'everything' });
await call('resolve_thread', { thread_id: item.thread.id, resolution_note: 'It reads to the end now' });
await call('list_threads', { status: 'resolved' });
const made = await call('checkpoint', { title: 'Parser mended', summary: 'Reads the last line', next_steps: ['Release'], tags: ['parser'] });
await call('handoff', { title: 'Release', summary: 'Ready to go out', next_steps: ['Tag it'] });
await call('list_checkpoints', { tags: ['parser'], since: '1d' });
await call('resume_checkpoint', { id: made.thread_id });
const talk = await call('create_conversation', { agent: 'default', title: 'Retries', messages: [{ role: 'user', text: 'How often do we retry?' }] });
await call('append_message', { conversation_id: talk.conversation_id, role: 'assistant', text: 'Three times, then we report.', key: 'once' });
await call('append_message', { conversation_id: talk.conversation_id, role: 'assistant', text: 'Three times, then we report.', key: 'once' });
await call('read_conversation', { conversation_id: talk.conversation_id });
await call('conversation_context', { conversation_id: talk.conversation_id, max_tokens: 500 });
await call('search_conversations', { query: 'How often do we retry?' });
await call('session_close', { session_id: session.session_id, summary: 'Mended the parser', decisions: ['Read to the end'], open_threads: ['Write the release notes'] });

const { resources } = await client.listResources();
const { resourceTemplates } = await client.listResourceTemplates();
const read = {};
for (const uri of ['skein://items', 'skein://threads', 'skein://checkpoints', `skein://item/${item.thread.id}`,
  `skein://checkpoint/${made.thread_id}`, `skein://thread/${talk.conversation_id}`]) {
  read[uri.replace(/\/[^/]*[0-9a-f-]{8,}.*$/, '')] = (await client.readResource({ uri })).contents[0].text;
}
const missing = await client.readResource({ uri: 'skein://thread/000000000000' }).then(() => null, (error) => error.code);
const unknown = await client.callTool({ name: 'no_such_tool', arguments: {} }).then(() => null, (error) => error.code);
const { prompts } = await client.listPrompts();
const prompt = await client.getPrompt({ name: 'close_session', arguments: { summary: 'All well' } });
const completed = await client.complete({
  ref: { type: 'ref/resource', uri: 'skein://thread/{id}' },
  argument: { name: 'id', value: talk.conversation_id.slice(0, 4) },
});

console.log(JSON.stringify({
  tools: tools.map((tool) => tool.name), results, missing, unknown, read,
  conversation: talk.conversation_id,
  resources: resources.map((resource) => resource.uri),
  templates: resourceTemplates.map((each) => each.uriTemplate),
  prompts: prompts.map((each) => each.name),
  prompt: prompt.messages[0].content.text,
  completed: completed.completion.values,
  server: client.getServerVersion()?.name,
}));
await client.close();
