// Package ledger keeps the intervals in which pods held GPUs, so that they
// outlive the pods. It knows nothing of Kubernetes and does no IO: it merges,
// closes, shards and encodes. What an interval costs, and whom, is package
// budget's; how documents are called, split and sealed is package document's.
//
// It exports more than 40 names, since a [Record] and its parts are what accounting,
// budgets and reports all speak of: 23 of them are the constants that say how a moment
// is known and where in a range it is taken to be.
//
// # Parts
//
// [Ledger] merges. Its parts are records (how they are held in memory), nodes and
// bindings (what is remembered beside them) and saved (what the documents say by now).
// Loading and saving are types of their own, for as long as a call lasts.
//
// # Merging
//
// Records are keyed by the pod's UID, and are no counters: [Ledger.Merge] and
// [Ledger.Join] give the same ledger however often and in which order the same is
// merged. Of each pod the earliest start is kept; what it held and its labels as
// they were first seen, so that no later edit moves past usage; and the end by
// the best source. An end that is only known to lie between two runs is kept as
// that range, and each budget takes its own point in it. A pod that is bound and of
// which there is nothing to record yet has a [Binding]: its record is frozen as of
// then.
//
// # Storage
//
// [Ledger.Changes] makes documents of at most 900 KiB, those of records in Parquet
// and the others in JSON: of closed intervals one for each hour of today and
// yesterday (UTC) and one for each day before, by the end; of open ones one for each
// of 64 hashes of the UID; one of what is recent among these; one of nodes and one of
// bound pods, where there are any to remember; and a header. So a run writes the
// current hour, what is recent, and the header; and retention removes whole days.
// Documents that are written twice,
// by two runs or by one that was cut short and its successor, are merged when
// they are loaded: between any two writes the documents hold all that they held
// before. A document that cannot be read costs what it held, and says so.
package ledger
