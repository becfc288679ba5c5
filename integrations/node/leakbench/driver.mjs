// The driver's side of leakbench's driver protocol (docs/use/driver-protocol.md), for hosts in JavaScript.
//
// A host is a function connect(server, {signal, timeout}) that returns a connected client, an object with
// call(tool, args, {signal, timeout}), which returns the text of the result, and close(). signal is the AbortSignal
// that a cancel of the bench aborts; timeout is in ms, undefined where the bench sets none. With lists: true, a client also has
// list(what, {signal, timeout}), which asks the server for its tools, resources or prompts each time, and returns their names.
import readline from 'node:readline';

const OPS = ['open', 'call', 'cancel', 'close', 'forget', 'reload', 'tick', 'list', 'stop'];

/** What a call throws that there is no way to make: the bench leaves it out, and a run without a finding is inconclusive. */
export class NotPlayed extends Error {}

/** How an answer tells of an error. */
function failure(e) {
    const error = String(e?.message ?? e) || 'failed';
    return e instanceof NotPlayed ? { error, not_played: error } : { error };
}

/** The text of a tool's result; a tool that failed is an error. */
export function textOf(result) {
    const text = result.content.filter(part => part.type === 'text').map(part => part.text).join('\n');
    if (result.isError) throw new Error(`the tool failed: ${text.slice(0, 1000)}`);
    return text;
}

/**
 * For a client that takes neither a signal nor a time limit: gives the promise up when the bench does. What the client has begun is
 * then ended by end, before the promise fails.
 */
export function limited(promise, { signal, timeout } = {}, end = () => {}) {
    return new Promise((resolve, reject) => {
        let gaveUp = false; // what comes after that is of a client that is being closed
        const over = () => {
            clearTimeout(timer);
            signal?.removeEventListener('abort', abort);
        };
        const giveUp = async why => {
            gaveUp = true;
            over();
            await Promise.resolve().then(end).catch(e => console.error('giving up:', e));
            reject(new Error(why));
        };
        const abort = () => void giveUp('cancelled');
        const timer = timeout && setTimeout(giveUp, timeout, `not done within the time limit of ${timeout} ms`);
        if (signal?.aborted) abort(); // no event tells of what has been
        else signal?.addEventListener('abort', abort);
        promise.then(value => gaveUp || resolve(value), e => gaveUp || reject(e)).finally(over);
    });
}

export class Driver {
    sessions = new Map(); // name -> client
    running = new Map(); // request id -> AbortController
    jobs = new Map(); // session of a job -> AbortController

    /** onStop is called when a stop was answered. */
    constructor(connect, write, onStop = () => {}) {
        Object.assign(this, { connect, write, onStop });
    }

    hello(host, version, notApplicable = {}, kind, profile, lists = false) {
        const ops = OPS.filter(op => !notApplicable[op] && (lists || op !== 'list'));
        return this.write({ hello: { protocol: 1, host, version, ops, not_applicable: notApplicable, kind, profile } });
    }

    async serve(request) {
        const answer = { id: request.id };
        const controller = new AbortController();
        this.running.set(request.id, controller);
        const options = { signal: controller.signal, timeout: request.timeout_ms || undefined };
        try {
            Object.assign(answer, await this[request.op](request, options));
            answer.ok = true;
        } catch (e) {
            Object.assign(answer, failure(e));
        }
        this.running.delete(request.id);
        await this.write(answer);
        if (request.op === 'stop') this.onStop();
    }

    client(name) {
        const client = this.sessions.get(name);
        if (!client) throw new Error(`no session "${name}"`);
        return client;
    }

    take(name) {
        const client = this.client(name);
        this.sessions.delete(name);
        return client;
    }

    /** A reconnect closes the old connection first. Of two at the same time the later one wins. */
    async connectAs(name, server, options) {
        const old = this.sessions.get(name);
        this.sessions.delete(name);
        await old?.close();
        const client = await this.connect(server, options);
        const other = this.sessions.get(name);
        this.sessions.set(name, client);
        await other?.close();
    }

    async open(r, options) {
        await this.connectAs(r.session, r.server, options);
    }

    async call(r, options) {
        return { result: await this.client(r.session).call(r.tool, r.args ?? {}, options) };
    }

    async list(r, options) {
        return { result: await this.client(r.session).list(r.what, options) };
    }

    cancel(r) {
        const controller = r.session ? this.jobs.get(r.session) : this.running.get(r.target);
        if (!controller) throw new Error(r.session ? `no job of session "${r.session}" is running` : `request ${r.target} is not running`);
        controller.abort();
    }

    async close(r) {
        await this.take(r.session).close();
    }

    /** The reference is dropped; --expose-gc lets the collector look at what is left. */
    async forget(r) {
        this.take(r.session);
        globalThis.gc?.();
    }

    /** One session after the other: no client here has a reload of its own. */
    async reload(r, options) {
        const failed = [];
        for (const s of r.sessions) {
            await this.connectAs(s.session, s.server, options).catch(e => failed.push(`session ${s.session}: ${e.message}`));
        }
        if (failed.length) throw new Error(failed.join('; '));
    }

    async tick(r) {
        const jobs = (r.jobs ?? []).map(async job => {
            const controller = new AbortController();
            this.jobs.set(job.session, controller);
            try {
                await this.job(job, controller.signal);
                return { session: job.session, ok: true };
            } catch (e) {
                return { session: job.session, ...failure(e) };
            } finally {
                this.jobs.delete(job.session);
            }
        });
        return { jobs: await Promise.all(jobs) };
    }

    async job(job, signal) {
        const client = await this.connect(job.server, { signal });
        try {
            await client.call(job.tool, job.args ?? {}, { signal, timeout: job.timeout_ms || undefined });
        } finally {
            await client.close();
        }
    }

    async stop() {
        const clients = [...this.sessions.values()];
        this.sessions.clear();
        await Promise.all(clients.map(client => client.close()));
        await this.endHost?.();
    }
}

/** Keeps stdout for the protocol: what a client or its libraries print from now on goes to stderr, the host's log. */
function ownStdout() {
    const protocol = process.stdout.write.bind(process.stdout);
    process.stdout.write = process.stderr.write.bind(process.stderr);
    return line => new Promise(done => protocol(JSON.stringify(line) + '\n', done));
}

// A program that is done: what still keeps the event loop alive, a child say, does not keep process.exit from ending it.
const end = () => process.exit(0);

/**
 * Runs a driver. There is no handler for SIGTERM, as no README has one: the program dies of it. endHost, where there is
 * one, ends at a stop what all clients share, when they are closed. profile is what the host declares of itself:
 * { settle: '2.5s', servers: 'per-request' } (docs/use/driver-protocol.md).
 */
export async function run({ host, version, connect, endHost, notApplicable = {}, kind, profile, lists }) {
    const driver = Object.assign(new Driver(connect, ownStdout(), end), { endHost });
    await driver.hello(host, version, notApplicable, kind, profile, lists);
    readline
        .createInterface({ input: process.stdin, crlfDelay: Infinity })
        .on('line', line => line.trim() && void driver.serve(JSON.parse(line)))
        .on('close', () => process.exit(1)); // the bench is gone
}
