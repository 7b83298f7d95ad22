// A tool server as the CLI starts them: lines of JSON-RPC on stdin and stdout. Its one tool tells where it runs.
import { createInterface } from 'node:readline';

const whereabouts = {
  name: 'whereabouts',
  description: 'Tells where this server runs',
  inputSchema: { type: 'object', properties: { note: { type: 'string' } } },
};

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'whereabouts', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [whereabouts] }),
  'tools/call': ({ arguments: { note } }) => ({
    content: [{ type: 'text', text: `${process.cwd()} ${process.env.MARK} ${note}` }],
  }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
});
