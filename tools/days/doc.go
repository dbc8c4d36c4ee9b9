// Package days plays seeded days of simulated time in one process. Machines of pools on the
// local CVM are nodes of a cluster in memory, with work on them. Meanwhile, machines are
// interrupted, zones are sold out, prices change, and some machines never join.
//
// Each day is played three times with the same events. gpupool maintains pools with nodes, and
// pools without; a plain loop terminates and refills. The results are compared.
package days
