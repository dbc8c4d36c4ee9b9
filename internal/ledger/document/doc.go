// Package document is the stored form of a ledger without its records: the names of documents,
// their seals, and those in JSON.
//
// A document contains the records of a [Shard] or of a part of it. Closed intervals are grouped by
// the hour or the day in which they ended, open ones by 64 hashes of the UID. Times are
// milliseconds since 1970 in UTC.
package document
