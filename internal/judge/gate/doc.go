// Package gate decides whether a change may go in: which of the runs count,
// what of their findings is new, listed or known, whether the list of known
// findings still holds, and what that makes together. It also says which runs
// belong to which of several machines, and puts what they found together. It is
// a pure function of judged runs and of the day.
package gate
