package budget

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Status is a budget's result of the last run. It is the gate of the spot pools that name it, and the input of data
// sources and later runs. Amounts are in milli-GPU-seconds; Hour is one GPU-hour. Rates are in
// milli-GPUs.
type Status struct {
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Generation int64  `json:"generation"` // of the declaration that it was judged by
	// Terms are Declaration.Terms of what it was judged by.
	Terms string `json:"terms,omitempty"`
	// Counted is that without the limit: the same where usage was counted alike.
	Counted    string    `json:"counted,omitempty"`
	ClusterUID string    `json:"cluster_uid"`
	RunID      string    `json:"run_id"` // the run that wrote it; later ones may have measured it again
	At         time.Time `json:"at"`     // the cluster's clock
	Usage      Usage     `json:"usage"`
	// ExceededSince is the crossing, derived from the intervals; nil while the
	// limit is not exceeded.
	ExceededSince *time.Time `json:"exceeded_since"`
	// Certain says that certain usage reaches the limit, without estimates. No loss of the ledger may have
	// made usage higher than it was.
	Certain bool `json:"certain,omitempty"`
	// ReportedAt is the first run that reported this crossing; nil once usage is known
	// to be below the limit.
	ReportedAt *time.Time `json:"reported_at"`
	// EnforceAt is when the grace ends; nil while used is below the limit or
	// nothing but alerts is declared.
	EnforceAt *time.Time `json:"enforce_at"`
	// Fired are the thresholds that were reported and have not re-armed.
	Fired []int `json:"fired,omitempty"`
	// Unknown says that the limit may be reached although Usage is below it; nil
	// if it is not.
	Unknown *Unknown `json:"unknown,omitempty"`
	// Missing is how much usage was counted before a part of the ledger was lost and is no longer counted.
	// Usage may be higher by that.
	Missing int64 `json:"missing,omitempty"`
	// KnownSince is when the ledger begins, if the window begins before it and you did not accept that; nil
	// otherwise.
	KnownSince *time.Time `json:"known_since,omitempty"`
	// Withheld is why something is not done, or not lifted, because a part of the window is not known well
	// enough; zero otherwise.
	Withheld reason.Reason `json:"withheld,omitzero"`
	// Enforced are the measures in force, of which all was observed to be done: freeze,
	// pause; and evict, while pods are evicted.
	Enforced []Action `json:"enforced,omitempty"`
	// Effects are what was requested and has not been observed to be done; EffectsLeftOut
	// is how many more there are.
	Effects        []Effect `json:"effects,omitempty"`
	EffectsLeftOut int      `json:"effects_left_out,omitempty"`
	// Paused are the workloads that the budget has paused, the same as in its documents of pauses. If such a
	// document is lost, a run warns of the workloads that stay stopped. PausedLeftOut is how many more there
	// are.
	Paused        []PausedWorkload `json:"paused,omitempty"`
	PausedLeftOut int              `json:"paused_left_out,omitempty"`
	// Grants are those that were in force, and a part of the limit.
	Grants   []Grant        `json:"grants,omitempty"`
	Warnings reason.Reasons `json:"warnings,omitempty"`
	// FrozenSince is when a run found or brought its freeze in force; nil while it is
	// not.
	FrozenSince *time.Time `json:"frozen_since,omitempty"`
	// AboutTo are events of what is about to be done: the next run looks whether it
	// was.
	AboutTo []history.Event `json:"about_to,omitempty"`
	// Unreported are events that the history may lack. LeftOut is how many older ones
	// there was no room for.
	Unreported []history.Event `json:"unreported,omitempty"`
	LeftOut    int             `json:"unreported_left_out,omitempty"`
}

// Measurement is the part of a status that every run measures again. The rest changes
// only if something happens, so that a run that changes nothing writes the measurements of
// all budgets as one document.
type Measurement struct {
	// Of is the RunID of the status that it goes with.
	Of       string         `json:"of"`
	At       time.Time      `json:"at"`
	Usage    Usage          `json:"usage"`
	Warnings reason.Reasons `json:"warnings,omitempty"`
}

// Measured is the status by a later measurement of the same, or as it is if the measurement
// goes with another one.
func (s Status) Measured(m Measurement) Status {
	if m.Of != "" && m.Of == s.RunID {
		s.At, s.Usage, s.Warnings = m.At, m.Usage, m.Warnings
	}
	return s
}

// Unknown is what was known of a budget when its limit was reached, if the ledger has lacked a part of its
// window since. Usage may be below the limit only because of that. Enforcement stays in force, and no spot
// pool launches.
type Unknown struct {
	Consumed int64         `json:"consumed"`
	At       time.Time     `json:"at"`
	Reason   reason.Reason `json:"reason"`
}

// WithoutReported leaves out the events that the history has by now.
func (s Status) WithoutReported(has func(history.Event) bool) Status {
	if s.Unreported = history.Unreported(s.Unreported, has); len(s.Unreported) == 0 {
		s.Unreported, s.LeftOut = nil, 0
	}
	return s
}

// Stored is the status as it is to be stored: events that are more than it keeps are
// left out, and counted.
func (s Status) Stored() Status {
	kept, leftOut := history.Newest(s.Unreported)
	s.Unreported, s.LeftOut = kept, s.LeftOut+leftOut
	return s
}

// Usage is the use of a budget inside its window.
type Usage struct {
	WindowStart time.Time `json:"window_start"`
	WindowEnd   time.Time `json:"window_end"` // of a calendar period; a rolling window ends now
	Limit       int64     `json:"limit"`
	// Consumed is what counts. State, percentage, rest, thresholds and forecast follow from it and the limit only.
	Consumed int64 `json:"consumed"`
	// Estimated is the part of Consumed that rests on estimated ends. The rest is certain.
	Estimated int64 `json:"estimated"`
	// Unconfirmed is in addition to Consumed, and counts for nothing: only the pods themselves claim it. Their nodes
	// were never observed, or they request more than any node has.
	Unconfirmed int64 `json:"unconfirmed,omitempty"`
	// ErrorBound is by how much Consumed may be wrong, either way.
	ErrorBound int64 `json:"error_bound"`
	// Missed is the part of ErrorBound that observation gaps may hide.
	Missed int64 `json:"missed,omitempty"`
	// Coverage is how much of the window until now was observed, in thousandths.
	Coverage    int   `json:"coverage"`
	TrackedPods int   `json:"tracked_pods"`
	ActivePods  int   `json:"active_pods"` // hold GPUs now, on nodes that were seen
	BurnRate    int64 `json:"burn_rate"`
	// ProjectedExhaustion is when the limit is reached at the present rate; nil
	// if it is not, or not before a calendar period ends.
	ProjectedExhaustion *time.Time `json:"projected_exhaustion"`
	// RecoversAt is when usage falls below the limit with no more use, or a calendar
	// period ends; nil while it is below.
	RecoversAt  *time.Time       `json:"recovers_at,omitempty"`
	ByNamespace map[string]int64 `json:"by_namespace,omitempty"`
	// ByLabel has an entry for each breakdown label's key and value.
	ByLabel map[string]map[string]int64 `json:"by_label,omitempty"`
}

// Exceeded reports whether the limit is reached.
func (u Usage) Exceeded() bool { return u.Consumed >= u.Limit }

// Certain is the consumed amount without estimates.
func (u Usage) Certain() int64 { return u.Consumed - u.Estimated }

// Remaining is the rest of the limit; never below zero.
func (u Usage) Remaining() int64 { return max(0, u.Limit-u.Consumed) }

// Others is under what a breakdown sums up its smaller entries where there are too many:
// no label or namespace is called so.
const Others = "(others)"

// mostReported is how many namespaces are reported.
const mostReported = 20

// MostUsing are the namespaces that get Events about the budget: those that used most, the most first.
func (u Usage) MostUsing() []string {
	names := slices.DeleteFunc(LargestFirst(u.ByNamespace), func(name string) bool { return name == Others })
	return names[:min(len(names), mostReported)]
}
