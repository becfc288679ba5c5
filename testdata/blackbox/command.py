"""A command that lists the tools of each server of a configuration, calls the tool sleep for a while, and exits.

    command.py CONFIG [--leak abandon|wait|cut]
"""

import argparse
import os
import signal
import sys

from mcp_stdio import connect, read_config


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    parser.add_argument("--leak", default="", help="abandon: exits without ending its servers; wait: waits for them for ever; cut: leaves them at a signal")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT):
        end = os._exit if options.leak == "cut" else sys.exit
        signal.signal(number, lambda number, _: end(128 + number))
    servers, status = [], 0
    try:
        for name, entry in read_config(options.config).items():
            try:
                server = connect(entry)
            except Exception as error:  # the others are listed nevertheless
                print(f"{name}: {error}")
                status = 1
                continue
            servers.append(server)
            print(f"{name}: {len(server.request('tools/list', {})['tools'])} tools, {server.call('sleep', {'ms': 300})}")
    finally:
        if options.leak == "abandon":
            sys.stdout.flush()
            os._exit(status)
        for server in servers:
            if options.leak == "wait":
                server.process.stdin.close()
                server.process.wait()
            server.close()
    sys.exit(status)


main()
