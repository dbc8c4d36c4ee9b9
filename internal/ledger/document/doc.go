// Package document is the stored form of a ledger, as far as it knows no record: how
// documents are called, the seal that guards each of them, and those in JSON.
//
// A document holds the records of a [Shard], or a part of these: of closed intervals
// those that ended in one hour, or on one day; of open ones those of one of 64 hashes
// of the UID, or what is recent. Times are milliseconds since 1970 in UTC.
package document
