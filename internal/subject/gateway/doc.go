// Package gateway is the clients before a gateway: it speaks the driver protocol
// with the bench, and HTTP with the gateway, by the published mcp-go client. It
// is a process of the bench's, beside the keeper and none of the host's.
package gateway
