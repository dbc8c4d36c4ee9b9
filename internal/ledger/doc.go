// Package ledger keeps the intervals in which pods held GPUs, so that they outlive the pods. It
// knows nothing of Kubernetes and does no IO: it merges, closes, shards and encodes. Package budget
// decides what an interval costs; package document names, splits and seals documents.
//
// The package exports more than 40 names, since accounting, budgets and reports all use [Record]
// and its parts. Of these, 23 are constants: sources of times, and points in a range.
//
// # Parts
//
// [Ledger] merges. It consists of records (in memory), nodes and bindings (kept in addition to
// records) and saved (the content of the documents). Loading and saving have their own types, which
// live for one call.
//
// # Merging
//
// Records are keyed by the pod's UID and are not counters. [Ledger.Merge] and [Ledger.Join] give
// the same ledger in any order and however often they are repeated. A record keeps the pod's
// earliest start. It keeps its first allocation and labels, so that no later edit moves past usage.
// It keeps the end from the best source. An end that is only known to lie between two runs is kept
// as that range. Each budget takes its own point in it. A bound pod that has no record yet has a
// [Binding], from which its record is filled.
//
// # Storage
//
// [Ledger.Changes] returns documents of at most 900 KiB. Records are in Parquet, the others in
// JSON:
//
//   - closed intervals, by their end: one document for each hour of today and yesterday (UTC),
//     and one for each day before
//   - open intervals: one for each of 64 hashes of the UID, and one of recent records
//   - nodes and bound pods: one each, if there are any
//   - a header
//
// So a run writes the current hour, the recent records and the header, and retention removes whole
// days. Two runs, or an interrupted run and its successor, may write the same record to several
// documents. They are merged when they are loaded: between any two writes no record is missing. A
// document that cannot be read loses its own records only, and is reported.
package ledger
