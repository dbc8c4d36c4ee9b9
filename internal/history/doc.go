// Package history keeps what runs, applies and people did, saw and failed at, as
// events. It knows nothing of stores and does no IO: it makes events, merges, asks,
// collapses and encodes them. Which decisions there are, and why, is the business of
// the kinds' own packages.
//
// # Events
//
// An event is made by a method of [About], which takes the [Kind] where several are told
// of by the same. Its ID is derived from what it tells, and from nothing of the moment at
// which it is told: who tells the same twice, because a run was killed or repeated, adds
// nothing. Half of the package's names are the kinds: they are one list, which readers of
// a history search by.
//
// # Storage
//
// Events are kept by the UTC day of their time, in Parquet. A day has a head, in
// which its newest events stand, and which tells of the day's other documents, the
// segments. A segment is named after its content and never changes. So to add events
// is to read and write one head, as long as that is small; from 128 KiB on its older
// half becomes a segment. When the day is over its documents are made as few as can
// be ([Codec.Compact]). Damage costs what a document held, and says so.
package history
