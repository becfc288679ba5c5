// A storm inside of this process, with the client of the official SDK: version 2, or version 1 where it is installed.
import { Lab } from 'leakbench';

const [v2] = await Promise.allSettled([import('@modelcontextprotocol/client')]);
const { Client, StdioClientTransport } =
    v2.status === 'fulfilled'
        ? { ...v2.value, ...(await import('@modelcontextprotocol/client/stdio')) }
        : { ...(await import('@modelcontextprotocol/sdk/client/index.js')), ...(await import('@modelcontextprotocol/sdk/client/stdio.js')) };

async function connect([command, ...args], options) {
    const client = new Client({ name: 'kit', version: '1.0.0' });
    await client.connect(new StdioClientTransport({ command, args }), options);
    return client;
}

await new Lab({ name: 'kit' }).storm(connect).then(
    () => console.log('clean'),
    e => console.log(e.message)
);
