// A small MCP server with planted faults, for the tests of `leakbench server`: node planted.mjs [FAULT ...]
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const faults = new Set(process.argv.slice(2))
const say = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n')

const results = {
  initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'planted', version: '1' } }),
  'tools/list': () => ({ tools: [] }),
  ping: () => ({})
}

if (faults.has('timer')) setInterval(() => {}, 1000) // keeps the process running past the end of stdin
if (faults.has('swallow')) process.stdout.on('error', () => {})
if (faults.has('swallow-spin')) process.stdout.on('error', () => { for (;;); })
if (faults.has('deaf-term')) process.on('SIGTERM', () => {})
if (faults.has('detached')) spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref()
if (faults.has('banner')) console.log('planted is ready')
if (faults.has('busy')) setInterval(() => { const until = Date.now() + 90; while (Date.now() < until); }, 100).unref()

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method } = JSON.parse(line)
  if (id === undefined || faults.has('silent')) return
  const result = results[method]
  say(result ? { id, result: result() } : { id, error: { code: -32601, message: 'no such method' } })
  if (faults.has('dies') && method === 'tools/list') setTimeout(() => process.exit(7), 20)
})
