package declaration

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// RunSummary is what the store keeps of the last run.
type RunSummary struct {
	// The ID of the run.
	RunID string `json:"run_id"`
	// When it began.
	StartedAt time.Time `json:"started_at"`
	// When it ended.
	FinishedAt time.Time `json:"finished_at"`
	// When the last run without a failure ended. Absent if none did.
	SucceededAt time.Time `json:"succeeded_at,omitzero"`
	// The number of objects that failed.
	Failed int `json:"failed"`
	// The number of decisions that were carried out or tried.
	Decisions int `json:"decisions"`
	// The number of decisions, by `kind/outcome`.
	Outcomes map[string]int `json:"outcomes,omitempty"`
	// The number of calls, by action of Tencent Cloud or by verb and resource of Kubernetes.
	Calls map[string]int `json:"calls,omitempty"`
	// When the last runs began. The latest is last.
	Starts []time.Time `json:"starts,omitempty"`
	// The counters of all runs of the store.
	Counters Counters `json:"counters,omitzero"`
	// The time until which notifications have claimed their events.
	NotifiedUntil time.Time `json:"notified_until,omitzero"`
	// The objects that failed, by name. `run` stands for a run that failed as a whole.
	Failing Failures `json:"failing,omitempty"`
	// The objects that were skipped, by name.
	Skipped Failures `json:"skipped,omitempty"`
	// Objects that an older gpupool can have left in the cluster.
	Leftovers []string `json:"leftovers,omitempty"`
	// The errors of budgets, by name. Only older versions write this field.
	BudgetErrors map[string]string `json:"budget_errors,omitempty"`
}

// Failures are what failed in run after run, by object: "spot_pool/REGION/NAME",
// "budget/NAME", or history.Run for the run as a whole. Of many, the first by name
// are kept, and the first of these with all of their errors.
type Failures map[string]Failing

// Of is how an object failed; nil where it did not.
func (f Failures) Of(object string) *Failing {
	if failing, failed := f[object]; failed {
		return &failing
	}
	return nil
}

// LastRuns is what the last runs did not do for an object.
type LastRuns struct {
	// The error of the last runs. What they measured is then older. Absent if the last one succeeded.
	Failing *Failing `json:"failing,omitempty"`
	// Why the last runs skipped the object, such as another process with its lock.
	PassedOver *Failing `json:"passed_over,omitempty"`
}

// LastRuns returns how the last runs were for an object.
func (s RunSummary) LastRuns(object string) LastRuns {
	return LastRuns{s.Failing.Of(object), s.Skipped.Of(object)}
}

// For returns the errors as a reader of the object may see them.
func (l LastRuns) For(reader reason.Renderer) LastRuns {
	return LastRuns{l.Failing.For(reader), l.PassedOver.For(reader)}
}

// Failing is an object that failed in the last run, or in several runs in a row.
type Failing struct {
	// When the first of these runs began.
	Since time.Time `json:"since"`
	// The number of these runs, in a row.
	Runs int `json:"runs"`
	// When the last of them began.
	LastAt time.Time `json:"last_at"`
	// The last error.
	Error history.Error `json:"error"`
	// The same as a reason. Absent if gpupool did not write its message.
	Reason reason.Reason `json:"reason,omitzero"`
	// Whether the history could not get the event of it.
	Unreported bool `json:"unreported,omitempty"`
}

// For returns the failure as a reader of its object may see it.
func (f *Failing) For(reader reason.Renderer) *Failing {
	if f == nil {
		return nil
	}
	seen := *f
	seen.Error, seen.Reason = *f.Error.For(reader, f.Reason), reader.Redact(f.Reason)
	return &seen
}

// Repeats reports whether the history has the event of a failure already: the last run failed alike. It ignores
// request IDs, which always differ.
func (f *Failing) Repeats(e history.Error) bool {
	if f == nil || f.Unreported {
		return false
	}
	message := func(e history.Error) string {
		if e.RequestID == "" {
			return e.Message
		}
		return strings.ReplaceAll(e.Message, e.RequestID, "")
	}
	return slices.ContainsFunc([]history.Error{bounded(e, true), bounded(e, false)}, func(e history.Error) bool {
		return e.Class == f.Error.Class && e.Code == f.Error.Code && (e.Code != "" || message(e) == message(f.Error))
	})
}

// The bounds of a run's summary, since the store's documents have one.
const (
	failuresAtMost = 5000
	inFullAtMost   = 250 // of the others, the error's class and the beginning of its message
	messageAtMost  = 600 // bytes
	messageInShort = 60
	wordsAtMost    = 300 // of other words
	startsAtMost   = 9
)

// Met is what a run met with an object: an error, or nil.
type Met struct {
	Object     string
	Error      *history.Error
	Reason     reason.Reason // of the error
	Unreported bool          // the history did not get its event
}

// After returns the failures after one more run, which met these. kept decides whether those of
// other objects stay.
func (f Failures) After(began time.Time, met []Met, kept func(object string) bool) Failures {
	next := Failures{}
	for object, failing := range f {
		if kept(object) {
			next[object] = failing
		}
	}
	slices.SortFunc(met, func(a, b Met) int { return strings.Compare(a.Object, b.Object) })
	for _, m := range met {
		delete(next, m.Object)
		if m.Error == nil {
			continue
		}
		old, again := f[m.Object]
		if !again {
			old = Failing{Since: began}
		}
		if again || len(next) < failuresAtMost {
			inFull := len(next) < inFullAtMost
			failing := Failing{Since: old.Since, Runs: old.Runs + 1, LastAt: began, Error: bounded(*m.Error, inFull), Unreported: m.Unreported}
			if inFull && len(reason.Reasons{m.Reason}.Compact()) <= messageAtMost {
				failing.Reason = m.Reason
			}
			next[m.Object] = failing
		}
	}
	if len(next) == 0 {
		return nil
	}
	return next
}

// bounded is an error of which no text is too long.
func bounded(e history.Error, inFull bool) history.Error {
	cut := func(text string, most int) string {
		if len(text) <= most {
			return text
		}
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	if !inFull {
		return history.Error{Class: cut(e.Class, messageInShort), Code: cut(e.Code, messageInShort), Message: cut(e.Message, messageInShort)}
	}
	return history.Error{
		Class: cut(e.Class, wordsAtMost), Code: cut(e.Code, wordsAtMost), Message: cut(e.Message, messageAtMost),
		RequestID: cut(e.RequestID, wordsAtMost), Remedy: cut(e.Remedy, wordsAtMost),
	}
}

// Begun are the starts of the last runs, after one more of all.
func (s RunSummary) Begun(at time.Time) []time.Time {
	starts := append(slices.Clone(s.Starts), at)
	return starts[max(0, len(starts)-startsAtMost):]
}

// WithFailing is the summary with what earlier versions wrote of budgets among the
// failures: since when and how often they did not tell.
func (s RunSummary) WithFailing() RunSummary {
	if len(s.BudgetErrors) == 0 {
		return s
	}
	s.Failing = maps.Clone(s.Failing)
	if s.Failing == nil {
		s.Failing = Failures{}
	}
	for name, message := range s.BudgetErrors {
		if _, known := s.Failing["budget/"+name]; !known {
			s.Failing["budget/"+name] = Failing{Since: s.StartedAt, Runs: 1, LastAt: s.StartedAt, Error: history.Error{Message: message}}
		}
	}
	s.BudgetErrors = nil
	return s
}

// Overdue says that a run has not come at its usual distance from the one before.
type Overdue struct {
	// When the next run was due.
	Since time.Time `json:"since"`
	// The median time between the starts of the last runs, in seconds.
	UsualSeconds int `json:"usual_seconds"`
}

// When a run is overdue: at so many times the usual distance, which so many runs
// show, and never sooner than this.
const (
	overdueAt     = 3
	distancesFrom = 4
	overdueFrom   = 2 * time.Minute
)

// Usual is how far the last runs began from each other; zero where these are too few
// to tell.
func (s RunSummary) Usual() time.Duration {
	var distances []time.Duration
	for n := 1; n < len(s.Starts); n++ {
		distances = append(distances, s.Starts[n].Sub(s.Starts[n-1]))
	}
	if len(distances) < distancesFrom {
		return 0
	}
	slices.Sort(distances)
	return max(0, distances[len(distances)/2])
}

// Overdue reports whether a run is overdue; nil if none is, or if it is unknown.
func (s RunSummary) Overdue(now time.Time) *Overdue {
	usual := s.Usual()
	if usual == 0 {
		return nil
	}
	last := s.Starts[len(s.Starts)-1]
	if now.Sub(last) < max(overdueAt*usual, overdueFrom) {
		return nil
	}
	return &Overdue{Since: last.Add(usual), UsualSeconds: int(usual.Round(time.Second) / time.Second)}
}
