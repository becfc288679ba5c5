// A gateway that shares each server of a configuration between all of its clients, at http://127.0.0.1:PORT/NAME/mcp, and makes
// REST of its tools: POST /NAME/TOOL with the arguments.
//
//   gateway.mjs --config FILE --port N [--lazy] [--leak superseded|stop]
//
// An eager one launches its servers before it listens, and again as soon as one has ended; a lazy one when it is asked.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { connect, readConfig } from "./mcp-stdio.mjs";

const { values } = parseArgs({
  options: { config: { type: "string" }, port: { type: "string" }, lazy: { type: "boolean" }, leak: { type: "string", default: "" } },
});
const config = readConfig(values.config);
const servers = new Map(); // a promise by name
let stopping = false;

async function relaunch(name, before) {
  const old = await before?.catch(() => undefined);
  if (old && values.leak !== "superseded") await old.close();
  if (stopping) throw new Error("the gateway ends");
  return connect(config[name]);
}

// one is the server of a name, launched anew where the last one has ended.
async function one(name) {
  const before = servers.get(name);
  const works = await before?.then((server) => !server.broken && !server.gone, () => false);
  if (!works && servers.get(name) === before) {
    const next = relaunch(name, before);
    next.catch(() => {});
    servers.set(name, next);
  }
  return servers.get(name);
}

async function supervise(name) {
  while (!stopping) {
    try {
      const server = await one(name);
      await server.ended;
    } catch {
      await sleep(100);
    }
  }
}

async function answer(name, message, signal) {
  const server = await one(name);
  if (message.method === "initialize") return { result: server.hello };
  return server.ask(message.method, message.params, signal);
}

async function callTool(name, tool, args, response) {
  try {
    response.end(JSON.stringify(await (await one(name)).call(tool, args)));
  } catch (error) {
    response.writeHead(502).end(error.message);
  }
}

async function handle(request, response) {
  const [, name, tool] = request.url.split("/");
  if (request.method !== "POST" || !config[name]) return response.writeHead(tool === "mcp" ? 405 : 200).end();
  const message = await json(request);
  if (tool !== "mcp") return callTool(name, tool, message, response);
  if (message.id === undefined) return response.writeHead(202).end();
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const said = await answer(name, message, gone.signal).catch((error) => ({ error: { code: -32000, message: error.message } }));
  const { result, error } = said;
  response.writeHead(200, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result, error }));
}

async function stop() {
  if (values.leak === "stop") process.exit(0);
  stopping = true;
  await Promise.all([...servers.values()].map((server) => server.then((s) => s.close(), () => {})));
  process.exit(0);
}

process.on("SIGTERM", stop);
process.on("SIGINT", stop);
if (!values.lazy) {
  await Promise.allSettled(Object.keys(config).map(one));
  Object.keys(config).forEach(supervise);
}
createServer((request, response) => handle(request, response).catch(() => response.writeHead(400).end())).listen(Number(values.port), "127.0.0.1");
