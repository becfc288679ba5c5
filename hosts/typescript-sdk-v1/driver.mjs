// Puts version 1 of the official TypeScript SDK (npm: @modelcontextprotocol/sdk) on the bench, used as its documentation
// says (docs/client.md): a Client and a StdioClientTransport for each session, connect, callTool, close.
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { run, textOf } from './leakbench/driver.mjs';

const { version } = JSON.parse(readFileSync(new URL('node_modules/@modelcontextprotocol/sdk/package.json', import.meta.url)));

async function connect(server, options) {
    const client = new Client({ name: 'leakbench', version: '1.0.0' });
    await client.connect(new StdioClientTransport({ command: server.command, args: server.args }), options);
    return {
        call: async (name, args, options) => textOf(await client.callTool({ name, arguments: args }, undefined, options)),
        list: async (what, options) => {
            const ask = { tools: 'listTools', resources: 'listResources', prompts: 'listPrompts' }[what];
            return (await client[ask](undefined, options))[what].map(one => one.name);
        },
        close: () => client.close()
    };
}

await run({ host: 'typescript-sdk-v1', version, connect, kind: 'library', lists: true });
