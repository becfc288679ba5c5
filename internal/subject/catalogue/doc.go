// Package catalogue is the one table of the hosts that are part of the
// program: their names, what they say about themselves, and what each of them
// breaks. It is leakbench's own, and data only: package host makes specs of
// it, package refhost the processes, and the tests, the selftest and the
// README's table hold it against what the bench finds.
//
//   - Hosts are those that `leakbench list hosts` has. Matrix says which laws
//     each of them breaks in each scenario, as errors.
//   - Mutants are the host "exact" with one Flaw each. Host.Shows says in which
//     scenario which law and kind are found, Host.Clean where nothing is.
//
// A new reference host is a row of Hosts, a column of Matrix and a design in
// package refhost. A new mutant is a Flaw, a row of Mutants and what package
// refhost does with it.
package catalogue
