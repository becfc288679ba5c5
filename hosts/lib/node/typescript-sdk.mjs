// Puts version 2 of the official TypeScript SDK (npm: @modelcontextprotocol/client) on the bench, used as its client guide
// says: a Client and a StdioClientTransport for each session, connect, callTool, close. With --auto the client negotiates
// the version of the protocol, which it does not without being asked: over stdio it questions a short-lived sibling of the
// server first, so a connect is two launches.
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { run, textOf } from './leakbench/driver.mjs';

const { version } = JSON.parse(readFileSync(new URL('node_modules/@modelcontextprotocol/client/package.json', import.meta.url)));

const auto = process.argv.includes('--auto');
const clientOptions = auto ? { versionNegotiation: { mode: 'auto' } } : undefined;

async function connect(server, options) {
    const client = new Client({ name: 'leakbench', version: '1.0.0' }, clientOptions);
    await client.connect(new StdioClientTransport({ command: server.command, args: server.args }), options);
    return {
        call: async (name, args, options) => textOf(await client.callTool({ name, arguments: args }, options)),
        list: async (what, options) => {
            const ask = { tools: 'listTools', resources: 'listResources', prompts: 'listPrompts' }[what];
            return (await client[ask](undefined, options))[what].map(one => one.name);
        },
        close: () => client.close()
    };
}

await run({ host: auto ? 'typescript-sdk-auto' : 'typescript-sdk', version, connect, kind: 'library', lists: true });
