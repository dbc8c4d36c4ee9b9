// Package days plays seeded days of simulated time in one process: pools on the local
// CVM whose machines are nodes of a cluster in memory, with work on them, while the
// cloud takes machines back, sells out and changes its prices, and machines never join.
// Each day is played three times, by the same events: with runs of gpupool over pools
// with nodes, over pools without, and with a plain loop that ends what is to end, and
// refills. What came of it is compared.
package days
