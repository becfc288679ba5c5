// Puts codex app-server (npm: @openai/codex) on the bench, controlled as editors do it: JSON-RPC over its stdin and stdout.
// A session is a thread with an MCP server of its own: thread/start, mcpServer/tool/call, thread/archive. No turn is
// started, so that it needs no account; its model provider is a port where nobody listens.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import readline from 'node:readline';
import { run, textOf } from './leakbench/driver.mjs';

const packages = new URL('node_modules/@openai/', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('codex/package.json', packages)));

// The program itself: bin/codex.js of the package is a process between, which would get the bench's signals in its place.
const vendor = new URL(`codex-${process.platform}-${process.arch}/vendor/`, packages);
const program = new URL(`${readdirSync(vendor)[0]}/bin/codex`, vendor).pathname;

// setpriv has the kernel kill it with its driver (PR_SET_PDEATHSIG): a SIGKILL of the host is meant for it.
const codex = spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, 'app-server'], { stdio: ['pipe', 'pipe', 'inherit'] });
codex.on('error', e => {
    console.error(`setpriv: ${e.message}`);
    process.exit(1);
});
codex.on('exit', code => process.exit(code ?? 1));
codex.stdin.on('error', () => {}); // it has ended, which the code above reports
process.on('SIGTERM', () => codex.kill('SIGTERM'));

const asked = new Map(); // id -> {resolve, reject}
const starting = new Map(); // thread -> a promise of what its server came to, with its resolve
let last = 0;

const send = message => codex.stdin.write(JSON.stringify(message) + '\n');

function ask(method, params, { timeout } = {}) {
    const id = ++last;
    return new Promise((resolve, reject) => {
        const timer = timeout && setTimeout(() => reject(new Error(`no answer to ${method} within ${timeout} ms`)), timeout);
        asked.set(id, message => {
            clearTimeout(timer);
            message.error ? reject(new Error(message.error.message)) : resolve(message.result);
        });
        send({ id, method, params });
    });
}

/** What the server of a thread came to: it may be told before thread/start is answered. */
function startup(thread) {
    if (!starting.has(thread)) {
        const told = {};
        told.promise = new Promise(resolve => (told.resolve = resolve));
        starting.set(thread, told);
    }
    return starting.get(thread);
}

readline.createInterface({ input: codex.stdout }).on('line', line => {
    const message = JSON.parse(line);
    if (message.id !== undefined && !message.method) {
        asked.get(message.id)?.(message);
        asked.delete(message.id);
    }
    const { threadId, status, error } = message.params ?? {};
    if (message.method === 'mcpServer/startupStatus/updated' && status !== 'starting') startup(threadId).resolve({ status, error });
});

const SERVER = 'server';

async function connect(server, { timeout }) {
    const { thread } = await ask('thread/start', {
        approvalPolicy: 'never',
        config: {
            mcp_servers: { [SERVER]: { command: server.command, args: server.args, startup_timeout_ms: timeout } },
            model_provider: 'none',
            model_providers: { none: { name: 'none', base_url: 'http://127.0.0.1:9/v1' } }
        }
    });
    const close = () => ask('thread/archive', { threadId: thread.id });
    const { status, error } = await startup(thread.id).promise;
    starting.delete(thread.id);
    if (status !== 'ready') {
        await close();
        throw new Error(error ?? status);
    }
    return {
        call: async (tool, args, { timeout }) =>
            textOf(await ask('mcpServer/tool/call', { threadId: thread.id, server: SERVER, tool, arguments: args }, { timeout })),
        close
    };
}

await ask('initialize', { clientInfo: { name: 'leakbench', version: '1.0.0' } });
send({ method: 'initialized' });
await run({
    host: 'codex-app-server',
    kind: 'application',
    version,
    connect,
    endHost: async () => {
        codex.removeAllListeners('exit');
        codex.stdin.end();
        await once(codex, 'exit');
    },
    notApplicable: {
        cancel: 'it has no request that cancels a call of a tool',
        forget: 'a thread that nobody listens to stays loaded for 30 minutes',
        reload: "it reads its configuration again for a thread's next turn, which needs a model"
    }
});
