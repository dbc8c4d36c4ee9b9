// Package cli is the command line of gpupool.
//
// Each command is an options struct, a constructor that only parses, and a run
// function. What a command knows of its process (arguments, environment,
// streams, terminal, signals) it has from [Process]; the package keeps no state.
// Data goes to standard output, everything else to standard error.
//
// What pools need done is not decided here, but in package reconcile.
package cli
