// A client of MCP servers over stdio, without an SDK: it reconnects by itself in a call when its server is gone.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'reconnect', version: '1' } };

/** A line of stdout that is no message says nothing. */
function parsed(line) {
    try {
        return JSON.parse(line) ?? {};
    } catch {
        return {};
    }
}

/** A connected client. With { drops: true } it has the bug: the server that is replaced is never ended. */
export async function connect(command, args, options = {}) {
    const client = new Client(command, args, options);
    await client.connect();
    return client;
}

export class Client {
    number = 0;

    constructor(command, args, { drops = false } = {}) {
        Object.assign(this, { command, args, drops });
    }

    async connect() {
        const child = spawn(this.command, this.args, { stdio: ['pipe', 'pipe', 'inherit'] });
        const server = (this.server = { child, waiting: new Map(), gone: new Promise(gone => child.once('close', gone)) });
        child.on('error', () => {});
        child.stdin.on('error', () => {});
        createInterface({ input: child.stdout })
            .on('line', line => {
                const { id, result, error } = parsed(line);
                if (error) server.waiting.get(id)?.reject(new Error(error.message));
                else server.waiting.get(id)?.resolve(result);
            })
            .on('close', () => {
                server.lost = true;
                server.waiting.forEach(one => one.reject(new Error('the server has closed its stdout')));
            });
        try {
            await this.ask('initialize', hello);
            this.send({ method: 'notifications/initialized' });
        } catch (e) {
            await this.end(server);
            throw e;
        }
    }

    async callTool(params) {
        try {
            return await this.ask('tools/call', params);
        } catch (e) {
            if (!this.server.lost || this.closed) throw e; // a call that close() cuts off does not reconnect
            if (!this.drops) await this.end(this.server); // the server is gone: another one, and once more
            if (this.closed) throw e;
            await this.connect();
            return this.ask('tools/call', params);
        }
    }

    async ask(method, params) {
        if (this.server.lost) throw new Error('the server has closed its stdout');
        const id = ++this.number;
        const answer = new Promise((resolve, reject) => this.server.waiting.set(id, { resolve, reject }));
        this.send({ id, method, params });
        return answer;
    }

    send(message) {
        this.server.child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
    }

    /** The end of stdin, time, SIGKILL, and a wait. */
    async end({ child, gone }) {
        child.stdin.end();
        const timer = setTimeout(() => child.kill('SIGKILL'), 2000);
        await gone;
        clearTimeout(timer);
    }

    close() {
        this.closed = true;
        return this.end(this.server);
    }
}
