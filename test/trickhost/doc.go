// Package trickhost holds the trick hosts: one healthy host, and small changes
// to it that the bench once judged wrongly, or could. Each trick stands in a
// table with its scenario and the verdict that is right, and a test of the
// whole bench plays them all. They know the driver protocol and nothing else of
// the bench; their MCP client is their own, so that a fault of a published
// client can't hide behind them. The program of all tricks is trick, below this
// folder: leakbench itself knows none of them.
package trickhost
