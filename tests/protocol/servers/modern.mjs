// An MCP server of the newest version, made with the official SDK.
//
//   modern.mjs            over standard input and output
//   modern.mjs http       over HTTP on a free port of loopback, which it prints
//   … only                refuses clients that begin with "initialize"
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler, fromJsonSchema, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const only = process.argv.includes('only');
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const schema = (properties) => fromJsonSchema({ type: 'object', properties });
let cancelled = 0;

function make() {
  const server = new McpServer({ name: 'modern', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.registerTool('say', { description: 'Says it again', inputSchema: schema({ text: { type: 'string' } }) },
    async ({ text: said }) => text(said));
  server.registerTool('route',
    { description: 'Wants a header', inputSchema: schema({ region: { type: 'string', 'x-mcp-header': 'Region' } }) },
    async ({ region }, ctx) => text(`${region} ${ctx.http?.req?.headers.get('mcp-param-region') ?? 'no header'}`));
  server.registerTool('slow', { description: 'Takes steps', inputSchema: schema({ steps: { type: 'integer' }, ms: { type: 'integer' } }) },
    async ({ steps, ms }, ctx) => {
      for (let i = 1; i <= steps; i++) {
        await new Promise((done) => setTimeout(done, ms));
        if (ctx.mcpReq.signal.aborted) { cancelled++; throw new Error('cancelled'); }
        const progressToken = ctx.mcpReq._meta?.progressToken;
        if (progressToken !== undefined) {
          await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: i, total: steps, message: `step ${i}` } });
        }
      }
      return text('done');
    });
  server.registerTool('cancelled', { description: 'How many were given up', inputSchema: schema({}) }, async () => text(cancelled));
  server.registerTool('broken', { description: 'Fails', inputSchema: schema({}) }, async () => { throw new Error('it broke'); });
  server.registerTool('roots', { description: 'Asks for roots', inputSchema: schema({}) }, async (_, ctx) => {
    const given = ctx.mcpReq.inputResponses?.folders;
    if (given === undefined) {
      return inputRequired({ inputRequests: { folders: inputRequired.listRoots() }, requestState: 'opaque' });
    }
    return text(given.roots.map((root) => root.uri).join(' ') + ' ' + ctx.mcpReq.requestState());
  });
  server.registerTool('die', { description: 'Ends the server', inputSchema: schema({}) }, async () => process.exit(7));
  return server;
}

if (process.argv.includes('http')) {
  const handler = createMcpHandler(make, { legacy: only ? 'reject' : 'stateless' });
  const server = createServer(toNodeHandler(handler));
  server.listen(0, '127.0.0.1', () => console.log(`PORT ${server.address().port}`));
} else {
  serveStdio(make, { legacy: only ? 'reject' : 'serve' });
}
