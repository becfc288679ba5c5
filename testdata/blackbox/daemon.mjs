// A command that has a daemon hold the servers, so that the next command need not launch them again.
//
//   daemon.mjs call --config FILE --socket PATH [--idle MS] [--leak idle]
//   daemon.mjs stop --socket PATH
//
// The first call starts the daemon, which ends when nobody has asked for the time --idle, or at a stop.
import { spawn } from "node:child_process";
import { connect as dial, createServer } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { connect, readConfig } from "./mcp-stdio.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { config: { type: "string" }, socket: { type: "string" }, idle: { type: "string", default: "1000" }, leak: { type: "string", default: "" } },
});

// ask sends a line to the daemon and returns its answer.
function ask(line) {
  return new Promise((resolve, reject) => {
    const socket = dial(values.socket, () => socket.write(line + "\n"));
    socket.once("error", reject);
    let answer = "";
    socket.on("data", (text) => (answer += text));
    socket.on("end", () => resolve(answer));
  });
}

async function call() {
  for (let attempt = 0; ; attempt++) {
    try {
      return await ask("call");
    } catch (error) {
      if (attempt === 100) throw error;
      if (attempt === 0) spawn(process.execPath, [process.argv[1], "serve", ...process.argv.slice(3)], { detached: true, stdio: "ignore" }).unref();
      await sleep(50);
    }
  }
}

async function serve() {
  const servers = new Map();
  let idle;
  const end = async () => {
    listening.close();
    await Promise.all([...servers.values()].map((server) => server.then((s) => s.close(), () => {})));
    process.exit(0);
  };
  const wait = () => {
    clearTimeout(idle);
    if (values.leak !== "idle") idle = setTimeout(end, Number(values.idle));
  };
  const one = async ([name, entry]) => {
    if (!servers.has(name)) servers.set(name, connect(entry));
    const server = await servers.get(name);
    return `${name}: ${await server.call("sleep", { ms: 300 })}`;
  };
  const listening = createServer((socket) => {
    socket.on("error", () => {});
    createInterface({ input: socket }).once("line", async (line) => {
      clearTimeout(idle);
      if (line === "stop") return socket.end("stopped\n", end);
      const said = await Promise.allSettled(Object.entries(readConfig(values.config)).map(one));
      socket.end(said.map((s) => s.value ?? s.reason.message).join("\n") + "\n");
      wait();
    });
  });
  process.on("SIGTERM", end);
  listening.listen(values.socket);
  wait();
}

const verbs = { call: async () => process.stdout.write(await call()), stop: async () => process.stdout.write(await ask("stop")), serve };
await verbs[positionals[0]]();
