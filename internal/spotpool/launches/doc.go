// Package launches is the journal's record of a pool's pending launches: their states, by a
// table, and their tokens. By its ClientToken, Tencent Cloud recognizes a retried request; by
// its bootstrap token, its instances join their cluster.
//
// It does no IO, and reads neither a clock nor the environment.
package launches
