#!/usr/bin/env node
// Puts a client on the bench of leakbench. What is in the three functions is yours; here it is the official TypeScript SDK
// (@modelcontextprotocol/client).
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { run, textOf } from './leakbench/driver.mjs';

/**
 * Launches the server, shakes hands, and asks for the tools, as hosts do. If that fails, end what was begun before you throw.
 * Two opens of one session may run at once: the library keeps the client that is connected last, and closes the other.
 * options are a signal and a timeout in ms. A client that takes neither: limited(client.connect(), options, () => client.close()).
 */
async function open(command, args, options) {
    const client = new Client({ name: 'my-client', version: '0.0.0' });
    try {
        await client.connect(new StdioClientTransport({ command, args }), options);
        await client.listTools({}, options);
        return client;
    } catch (e) {
        await client.close();
        throw e;
    }
}

const call = async (client, tool, args, options) => textOf(await client.callTool({ name: tool, arguments: args }, options));

const close = client => client.close();

await run({
    host: 'my-client',
    version: '0.0.0',
    connect: async ({ command, args }, options) => {
        const client = await open(command, args, options);
        return { call: (tool, args, options) => call(client, tool, args, options), close: () => close(client) };
    }
});
