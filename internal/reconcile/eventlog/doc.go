// Package eventlog keeps the history in a store: it adds events, answers queries, and drops
// what is too old. Package history defines events, and how a day of them becomes documents.
//
// To add events, it reads the head of their day, and writes it unless the head has them. A
// writer that meets another one reads again. The lock "history" guards all other changes. A
// full head is divided. The first writer of a day compacts the days before it, and drops what
// exceeds the retention. Unlisted documents, which a kill leaves, are removed then, too.
//
// Failures of the history never change or block a run: they are warnings.
package eventlog
