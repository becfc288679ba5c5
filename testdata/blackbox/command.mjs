// A command that lists the tools of each server of a configuration, calls one of them, and exits.
//
//   command.mjs CONFIG [--leak abandon|wait]
import { parseArgs } from "node:util";
import { connect, readConfig } from "./mcp-stdio.mjs";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { leak: { type: "string", default: "" } } });
const servers = [];
let status = 0;

async function end(code) {
  if (values.leak === "abandon") process.exit(code); // without a word to its servers
  if (values.leak === "wait") {
    for (const server of servers) server.process.stdin.end();
    await Promise.all(servers.map((server) => server.exited)); // for as long as it takes
  }
  await Promise.all(servers.map((server) => server.close()));
  process.exit(code);
}

process.on("SIGTERM", () => end(143));
process.on("SIGINT", () => end(130));
for (const [name, entry] of Object.entries(readConfig(positionals[0]))) {
  try {
    const server = await connect(entry, (begun) => servers.push(begun));
    const { tools } = await server.request("tools/list", {});
    console.log(`${name}: ${tools.length} tools, ${await server.call("sleep", { ms: 300 })}`);
  } catch (error) {
    console.log(`${name}: ${error.message}`); // the others are listed nevertheless
    status = 1;
  }
}
await end(status);
