// A small MCP client over stdio: what gateway.mjs, command.mjs and daemon.mjs have in common.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

// Server is a server in a process group of its own.
export class Server {
  constructor({ command, args }) {
    this.process = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"], detached: true });
    this.next = 0;
    this.waiting = new Map();
    this.broken = false;
    this.exited = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.stdin.on("error", () => {});
    this.ended = new Promise((resolve) => this.process.stdout.once("close", resolve));
    this.ended.then(() => this.#lose());
    this.process.once("error", () => this.#lose());
    createInterface({ input: this.process.stdout }).on("line", (line) => this.#read(line));
  }

  #lose() {
    this.broken = true;
    for (const { reject } of this.waiting.values()) reject(new Error("the server has ended"));
    this.waiting.clear();
  }

  #read(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    this.waiting.get(message.id)?.resolve(message);
    this.waiting.delete(message.id);
  }

  notify(method, params) {
    this.process.stdin.write(JSON.stringify({ jsonrpc: "2.0", method, params }) + "\n");
  }

  // ask returns the whole answer, result or error. An aborted one is taken back.
  ask(method, params, signal) {
    if (this.broken) return Promise.reject(new Error("the server has ended"));
    const id = ++this.next;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      signal?.addEventListener("abort", () => {
        if (!this.waiting.delete(id)) return;
        if (method !== "initialize") this.notify("notifications/cancelled", { requestId: id });
        reject(signal.reason);
      });
      this.process.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    });
  }

  async request(method, params, signal = AbortSignal.timeout(20_000)) {
    const { result, error } = await this.ask(method, params, signal);
    if (error) throw new Error(error.message);
    return result;
  }

  async connect() {
    const clientInfo = { name: "blackbox", version: "1" };
    this.hello = await this.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo }, AbortSignal.timeout(5_000));
    this.notify("notifications/initialized");
    return this;
  }

  async call(tool, args) {
    const { content } = await this.request("tools/call", { name: tool, arguments: args });
    return content.map((part) => part.text ?? "").join("");
  }

  get gone() {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  // close ends stdin, and helps with SIGTERM and SIGKILL where that is not enough.
  async close() {
    this.process.stdin.end();
    for (const signal of ["SIGTERM", "SIGKILL"]) {
      const patience = new AbortController();
      await Promise.race([this.exited, sleep(2_000, undefined, { signal: patience.signal }).catch(() => {})]);
      patience.abort();
      if (this.gone) break;
      this.#signal(signal);
    }
    await this.exited;
    this.#signal("SIGKILL"); // what it has started
  }

  #signal(signal) {
    try {
      process.kill(-this.process.pid, signal);
    } catch {}
  }
}

// connect returns a connected server. One that does not connect is ended. Whoever may have to end it meanwhile gets it in begun.
export async function connect(entry, begun = () => {}) {
  const server = new Server(entry);
  begun(server);
  try {
    return await server.connect();
  } catch (error) {
    await server.close();
    throw error;
  }
}

// readConfig returns the servers of a file in the usual format.
export const readConfig = (path) => JSON.parse(readFileSync(path, "utf8")).mcpServers;
