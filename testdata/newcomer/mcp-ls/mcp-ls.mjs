#!/usr/bin/env node
// mcp-ls lists the tools of all servers in an MCP configuration.
//
// Usage: mcp-ls [--json] [--timeout SECONDS] mcp.json
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

const args = process.argv.slice(2);
let asJson = false;
let timeout = 10;
let file;
while (args.length > 0) {
  const arg = args.shift();
  if (arg === "--json") asJson = true;
  else if (arg === "--timeout") timeout = Number(args.shift());
  else file = arg;
}
if (!file || Number.isNaN(timeout)) {
  console.error("usage: mcp-ls [--json] [--timeout SECONDS] mcp.json");
  process.exit(2);
}

class Client {
  #child;
  #nextId = 1;
  #pending = new Map();

  constructor(name, entry) {
    this.name = name;
    this.entry = entry;
  }

  async connect() {
    this.#child = spawn(this.entry.command, this.entry.args ?? [], {
      env: { ...process.env, ...this.entry.env },
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#child.on("error", (error) => this.#fail(error));
    this.#child.on("exit", (code) => this.#fail(new Error(`the server has exited with ${code}`)));
    this.#child.stdin.on("error", () => {});
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#onLine(line));
    const result = await this.request("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "mcp-ls", version: "0.2.0" },
    });
    this.#send({ method: "notifications/initialized" });
    return result.serverInfo;
  }

  #send(message) {
    this.#child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  #onLine(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return; // some servers print to stdout
    }
    const pending = this.#pending.get(message.id);
    if (!pending) return;
    this.#pending.delete(message.id);
    if (message.error) pending.reject(new Error(message.error.message));
    else pending.resolve(message.result);
  }

  #fail(error) {
    for (const pending of this.#pending.values()) pending.reject(error);
    this.#pending.clear();
  }

  request(method, params) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      setTimeout(() => {
        if (this.#pending.delete(id)) reject(new Error(`${method}: no answer within ${timeout} s`));
      }, timeout * 1000).unref();
      this.#send({ id, method, params });
    });
  }

  async listTools() {
    const tools = [];
    let cursor;
    do {
      const page = await this.request("tools/list", cursor ? { cursor } : {});
      tools.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor);
    return tools;
  }

  close() {
    this.#child?.stdin.end();
  }
}

async function list([name, entry]) {
  const client = new Client(name, entry);
  try {
    const info = await client.connect();
    return { name, version: info.version, tools: await client.listTools() };
  } catch (error) {
    return { name, error: error.message };
  } finally {
    client.close();
  }
}

const { mcpServers } = JSON.parse(await readFile(file, "utf8"));
const results = await Promise.all(Object.entries(mcpServers).map(list));
if (asJson) {
  console.log(JSON.stringify(results, null, 2));
} else {
  for (const { name, version, tools, error } of results) {
    console.log(error ? `${name}: ${error}` : `${name} ${version}`);
    for (const tool of tools ?? []) console.log(`  ${tool.name}: ${(tool.description ?? "").split("\n")[0]}`);
  }
}
process.exit(results.some((r) => r.error) ? 1 : 0);
