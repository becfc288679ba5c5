// Two ways to keep MCP clients of the official TypeScript SDK: one leaks a process, the other does not.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

async function connect([command, ...args], options) {
    const client = new Client({ name: 'example', version: '1.0.0' });
    await client.connect(new StdioClientTransport({ command, args }), options);
    return client;
}

/** Forgets the client where it should close it: the garbage collector ends no process. */
export async function leaking(argv, options) {
    let client = await connect(argv, options);
    return { callTool: params => client.callTool(params), close: () => (client = undefined) };
}

export async function fixed(argv, options) {
    return connect(argv, options);
}

/** For scenarios that cancel a call: the SDK takes the signal in its options. */
export async function call(client, name, args, options) {
    const result = await client.callTool({ name, arguments: args }, options);
    return result.content.map(part => part.text).join('\n');
}
