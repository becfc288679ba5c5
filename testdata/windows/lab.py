"""A test of somebody's own, without a test runner: a client of the published SDK beside leakbench lab."""
import asyncio
import subprocess
import sys

import client  # examples/python
from leakbench.lab import Bench, Lab, LeakError

bench = Bench(out=sys.argv[1])
lab = Lab(bench, "fixed")
asyncio.run(lab.storm(client.fixed))
lab.close()
print("fixed: clean")

lab = Lab(bench, "leaking", settle=1.0, confirm=0.1)
try:
    asyncio.run(lab.storm(client.leaking))
except LeakError as e:
    print("leaking:", e.outcome, "L1" in str(e))

lab = Lab(bench, "deaf", settle=0.5, confirm=0.1)
server = subprocess.Popen(lab.server(ignore="eof"), stdin=subprocess.PIPE)
lab.flat(1)
left, text = bench.children()
print("children:", [one["pid"] for one in left] == [server.pid], str(server.pid) in text)
server.stdin.close()
try:
    lab.close()
except LeakError as e:
    print("deaf:", e.outcome, "server1#1" in str(e), server.wait(timeout=20) != 0)
print("left:", bench.children(settle=10)[0])
bench.close()
