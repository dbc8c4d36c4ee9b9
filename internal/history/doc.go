// Package history keeps the actions, observations and failures of runs, applies and people, as
// events. It knows nothing of stores and does no IO: it creates, merges, selects, collapses and
// encodes events. The packages of each kind decide which events happen, and why.
//
// # Events
//
// A method of [About] creates an event. It takes the [Kind] if several kinds have the same data.
// The ID of an event is derived from its content, not from the time of the report. So a killed and
// repeated run adds no event twice. Half of the package's names are the kinds: they are one list,
// by which users search the history.
//
// # Storage
//
// Events are stored by the UTC day of their time, in Parquet. A day has a head, which contains its
// newest events and the index of the day's other documents, the segments. A segment is named after
// its content and never changes. So adding events reads and writes one head, as long as that is
// small. From 128 KiB on its older half becomes a segment. When the day is over, its documents are
// combined ([Codec.Compact]). A damaged document loses its own events only, and is reported.
package history
