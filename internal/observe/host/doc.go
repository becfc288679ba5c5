// Package host plays a scenario against a host: it is the only package that has a ledger, a keeper, a host and a writer in its
// hands at the same time. It writes down what happened and judges nothing.
//
// A run is: make the file, listen, start the keeper, write the header, start
// the host, play the steps, end the host, look one last time, sweep, close.
package host
