// Package observe is what the runners have in common: that of a host on the bench, that of a server under test, and that of a host which
// runs already. It owns the file of a run with its header and its end, and the keeper with what the keeper sees. It judges nothing.
package observe
