// A gateway as small as it gets: keeps one MCP server connected, and ends it when it is asked to end.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const [command, ...args] = process.argv.slice(2);
const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "gateway", version: "1" } };
let stopping = false;
let number = 0;

async function connect() {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const server = { child, gone: new Promise((resolve) => child.once("close", resolve)), waiting: new Map() };
  child.on("error", () => {});
  child.stdin.on("error", () => {});
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    const { id, result, error } = JSON.parse(line);
    if (error) server.waiting.get(id)?.reject(new Error(error.message)); // a server that refused is to be ended, too
    else server.waiting.get(id)?.resolve(result);
  });
  lines.on("close", () => {
    server.deaf = true;
    server.waiting.forEach((one) => one.reject(new Error("the server has closed its stdout")));
  });
  try {
    await ask(server, "initialize", hello);
    send(server, { method: "notifications/initialized" });
    return server;
  } catch (failed) {
    await close(server);
    throw failed;
  }
}

const send = (server, message) => server.child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

async function ask(server, method, params) {
  if (server.deaf) throw new Error("the server has closed its stdout");
  const id = ++number;
  const answer = new Promise((resolve, reject) => server.waiting.set(id, { resolve, reject }));
  send(server, { id, method, params });
  return Promise.race([answer, sleep(2000, null, { ref: false }).then(() => { throw new Error(method + " took too long"); })]);
}

// The end of stdin, then SIGTERM, then SIGKILL, and wait: without it, a server is left.
async function close(server) {
  server.child.stdin.end();
  for (const signal of ["SIGTERM", "SIGKILL"]) {
    if (await Promise.race([server.gone.then(() => true), sleep(2000, false, { ref: false })])) return;
    server.child.kill(signal);
  }
  await server.gone;
}

process.on("SIGTERM", () => { stopping = true; });
let server;
while (!stopping) {
  try {
    server ??= await connect();
    await ask(server, "tools/list", {});
    await sleep(50);
  } catch { // it broke: end what is left of it, and connect anew
    if (server) await close(server);
    server = undefined;
    await sleep(50);
  }
}
if (server) await close(server);
