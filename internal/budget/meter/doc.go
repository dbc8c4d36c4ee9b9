// Package meter measures GPU-hours: how much of budgets the intervals of a ledger use,
// when that crosses a limit and falls below it, and what it came to in the past.
//
// [Evaluate] judges all budgets at once, [Replay] one at every moment, and a [Meter]
// single pods. They agree with each other to the last milli-GPU-second.
package meter
