// The client on the bench, inside of its tests: node --test. Those whose client has the bug, or has no call, are to fail.
import test from 'node:test';
import { leakfree } from 'leakbench';
import { connect } from './client.mjs';

const quick = { settle: 1.5, confirm: 0.5 };
const dropping = ([command, ...args]) => connect(command, args, { drops: true });

test('reconnect', leakfree(lab => lab.storm(([command, ...args]) => connect(command, args))));

test('reconnect, dropping', leakfree(lab => lab.storm(dropping), quick));

async function oneReconnect(lab, connect) {
    const client = await connect(await lab.server('on=call,do=close-stdout,launch=1'));
    await client.callTool({ name: 'echo', arguments: { text: 'hello' } }); // the first server closes its stdout: the client launches a second one
    await lab.flat(1); // the second one is alive, and no other
    await client.close();
}

test('one reconnect', leakfree(lab => oneReconnect(lab, ([command, ...args]) => connect(command, args))));

test('one reconnect, dropping', leakfree(lab => oneReconnect(lab, dropping), quick));

// The same, whose method has another name.
async function renamed(argv) {
    const client = await dropping(argv);
    return { invoke: params => client.callTool(params), close: () => client.close() };
}

async function call(client, name, args) {
    const result = await client.invoke({ name, arguments: args });
    return result.content.map(part => part.text).join('\n');
}

test('renamed', leakfree(lab => lab.storm(renamed, { call }), quick));

test('renamed, without call', leakfree(lab => lab.storm(renamed), quick));
