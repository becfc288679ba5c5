// The bench for a test: this process is the host, and launches servers as it likes. A Bench is `leakbench lab`, a process
// that the servers report to; a Lab is what one test asks of it. When this process ends, whatever the cause, the bench ends
// what is left of its servers.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { Driver, limited, NotPlayed, textOf } from './driver.mjs';

/** The path of the leakbench program: $LEAKBENCH_BINARY, or that of the package for this platform. */
export function binary() {
    if (process.env.LEAKBENCH_BINARY) return process.env.LEAKBENCH_BINARY;
    const name = `@leakbench/${process.platform}-${process.arch}`;
    try {
        const folder = path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
        const program = path.join(folder, 'bin', process.platform === 'win32' ? 'leakbench.exe' : 'leakbench');
        if (fs.existsSync(program)) return program;
    } catch {
        // said below
    }
    throw new Error(`the package ${name} is not installed: install it beside leakbench, or set LEAKBENCH_BINARY`);
}

/** What the bench has found. The message is the report. */
export class LeakError extends Error {
    constructor(text, outcome = 'leak', page = undefined) {
        super(text);
        this.name = 'LeakError';
        this.stack = `${this.name}: ${text}`; // the report says it all
        this.outcome = outcome;
        this.page = page;
    }
}

function checked(answer) {
    if (answer.error) throw new Error(`leakbench: ${answer.error}`);
    if (answer.outcome) throw new LeakError(`leakbench: ${answer.text}`, answer.outcome, answer.page);
    return answer;
}

/** A leakbench process. It does not keep this one alive, but for the time of a request. */
export class Bench {
    waiting = new Map(); // id -> called with each answer
    last = 0;
    failed = false; // a request

    /** Without a folder the runs go to one in the temporary folder, which stays only if a page in it is worth reading. */
    constructor(out = undefined) {
        if (!out) {
            out = path.join(os.tmpdir(), `leakbench-${process.pid}`);
            process.once('exit', () => this.failed || fs.rmSync(out, { recursive: true, force: true }));
        }
        this.process = spawn(binary(), ['lab', '--host', String(process.pid), '--out', out], {
            stdio: ['pipe', 'pipe', 'inherit'],
            detached: process.platform !== 'win32'
        });
        this.process.on('error', e => this.ended(e.message));
        this.process.on('exit', code => this.ended(`${binary()} has ended with status ${code}`));
        this.process.stdin.on('error', () => {}); // its exit reports its end
        readline.createInterface({ input: this.process.stdout, crlfDelay: Infinity }).on('line', line => {
            const answer = JSON.parse(line);
            this.failed ||= Boolean(answer.error || answer.outcome);
            this.waiting.get(answer.id)?.(answer);
        });
        this.hold(false);
    }

    hold(on) {
        for (const handle of [this.process, this.process.stdin, this.process.stdout]) on ? handle.ref?.() : handle.unref?.();
    }

    ended(why) {
        this.over ??= why;
        for (const onAnswer of this.waiting.values()) onAnswer({ error: why });
    }

    send(request) {
        this.process.stdin.write(JSON.stringify(request) + '\n');
    }

    /** Makes a request; onAnswer is called with each of its answers. */
    begin(request, onAnswer) {
        const id = ++this.last;
        if (this.over) {
            setImmediate(onAnswer, { error: this.over });
            return id;
        }
        this.waiting.set(id, onAnswer);
        this.hold(true);
        this.send({ id, ...request });
        return id;
    }

    done(id) {
        this.waiting.delete(id);
        if (this.waiting.size === 0) this.hold(false);
    }

    /** Makes a request and waits for its answer. */
    async ask(request) {
        let id;
        const answer = await new Promise(resolve => (id = this.begin(request, resolve)));
        this.done(id);
        return checked(answer);
    }

    /** What is below this process, or was orphaned by it, and stays for so many seconds. */
    async children(settle = 0, known = [], mark = '') {
        const { left = [], text = '' } = await this.ask({ do: 'children', settle, known, mark });
        return { left, text };
    }
}

let shared;

/** The bench of this process. */
export const bench = () => (shared ??= new Bench(process.env.LEAKBENCH_OUT));

/** The servers of one test. */
export class Lab {
    playing = 0; // scenarios

    constructor({ name = 'test', settle = 15, confirm = 1, out = undefined, fast = undefined } = {}) {
        this.common = { name, settle, confirm, out, fast };
    }

    /**
     * The command line of a new fake MCP server. It does wrong what the faults say: { ignore: 'eof' } is one that ignores the
     * end of its stdin, 'on=call,do=hang,tool=echo' is the long form, as `leakbench fakeserver --fault` has it.
     */
    async server(...faults) {
        const texts = faults.flatMap(fault =>
            typeof fault === 'string' ? fault : Object.entries(fault).map(([action, moment]) => `on=${moment},do=${action}`)
        );
        return (await bench().ask({ do: 'server', faults: texts, ...this.common })).argv;
    }

    /** Throws unless of each server exactly the newest n launches are alive, within the settle time. */
    async flat(n) {
        await bench().ask({ do: 'flat', n, ...this.common });
    }

    /** Throws if a server is still alive after the settle time. What is left is killed. */
    async close() {
        await bench().ask({ do: 'close', ...this.common });
    }

    /** Plays a reconnect storm: see play. */
    async storm(open, options = undefined) {
        await this.play('storm', open, options);
    }

    /**
     * Plays a scenario of leakbench against clients in this process, and throws for what they do wrong. open(argv, { signal,
     * timeout }) launches the server, shakes hands, and returns a client with close(). Tools are called by
     * client.callTool({ name, arguments }), or by options.call(client, tool, args, { signal, timeout }), which returns the text of a
     * result. The third parameter may be that function itself.
     */
    async play(scenario, open, options = {}) {
        const call = (typeof options === 'function' ? options : options.call) ?? callItself;
        let driver;
        const connect = async (server, options) => {
            const client = await open([server.command, ...server.args], options);
            return { call: (tool, args, o) => call(client, tool, args, o), close: () => client.close() };
        };
        let id;
        this.playing++;
        const answer = await new Promise(resolve => {
            id = bench().begin({ do: 'play', scenario, ...this.common }, answer => {
                if (answer.begin) {
                    driver = new Driver(connect, line => bench().send({ id, from_driver: line }));
                    driver.hello(this.common.name, '');
                } else if (answer.to_driver) void driver.serve(answer.to_driver);
                else if (!answer.end) resolve(answer);
            });
        });
        this.playing--;
        bench().done(id);
        checked(answer);
    }
}

/**
 * Calls client.callTool({ name, arguments }) with { signal, timeout }: as the second parameter where there are two, as in version 2 of the
 * official SDK, else as the third, as in version 1, whose second one is a schema. A client that takes neither is given up in time.
 */
async function callItself(client, name, args, options) {
    if (typeof client?.callTool !== 'function') {
        const who = client?.constructor?.name ?? 'the client';
        throw new NotPlayed(
            "your client's own reconnect was not played: pass call, as in lab.storm(connect, { call }) " +
                `(${who} has no callTool({ name, arguments }))`
        );
    }
    const more = client.callTool.length === 2 ? [options] : [undefined, options];
    const result = await limited(Promise.resolve(client.callTool({ name, arguments: args }, ...more)), options);
    if (typeof result === 'string') return result;
    return Array.isArray(result?.content) ? textOf(result) : (JSON.stringify(result) ?? '');
}

let labs = 0;

/**
 * A test with a lab: test('reconnect', leakfree(async lab => ...)). Whatever the runner gives to a test comes after the lab.
 * When the test ends, none of the lab's servers may be alive.
 */
export function leakfree(test, options = {}) {
    return async (...given) => {
        const name = options.name ?? given[0]?.task?.name ?? given[0]?.name ?? (test.name || 'test');
        const lab = new Lab({ ...options, name: `${String(name).replace(/[^\w.-]+/g, '-')}-${++labs}` });
        try {
            await test(lab, ...given);
            if (lab.playing > 0) throw new Error('leakbench: the test ended before its scenario: await lab.storm and lab.play');
        } catch (e) {
            await lab.close().catch(() => {}); // the first failure is the one to tell
            throw e;
        }
        await lab.close();
    };
}
