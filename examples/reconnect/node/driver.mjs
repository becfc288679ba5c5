#!/usr/bin/env node
// The client as a host of `leakbench run storm --host ./driver.mjs`. DROPS=1 has the bug.
import { limited, run, textOf } from 'leakbench/driver';
import { Client } from './client.mjs';

await run({
    host: 'reconnect-node',
    version: '1',
    profile: { reconnects: 'itself' },
    notApplicable: { forget: 'it asks its callers to close it' },
    connect: async ({ command, args }, options) => {
        const client = new Client(command, args, { drops: Boolean(process.env.DROPS) });
        await limited(client.connect(), options, () => client.close());
        return {
            call: async (name, args, options) => textOf(await limited(client.callTool({ name, arguments: args }), options)),
            close: () => client.close()
        };
    }
});
