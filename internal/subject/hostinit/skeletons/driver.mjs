#!/usr/bin/env node
// Puts a client on the bench of leakbench. What is in the three functions is yours; here it is the official TypeScript SDK
// (@modelcontextprotocol/client).
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { run, textOf } from './leakbench/driver.mjs';

/**
 * Launches the server and shakes hands. What can't be connected is yours to end, too. options are a signal and a timeout in ms. If your
 * client takes neither: limited(client.connect(), options, () => client.close()), from the same library.
 */
async function open(command, args, options) {
    const client = new Client({ name: 'my-client', version: '0.0.0' });
    await client.connect(new StdioClientTransport({ command, args }), options);
    return client;
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
