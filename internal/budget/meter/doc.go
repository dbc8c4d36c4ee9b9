// Package meter measures GPU-hours: how much of each budget the intervals of a ledger use, now and in the
// past. It finds when usage crosses a limit and when it falls below it.
//
// [Evaluate] judges all budgets at once, [Replay] one at every moment, and a [Meter] single pods. They agree
// with each other to the last milli-GPU-second.
package meter
