package reconcile

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"maps"
	"sync/atomic"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/draft"
)

// Engine carries declarations out, for one account, one cluster and one store.
type Engine struct {
	// Cloud may be a LazyCloud: it is not asked for anything where no spot pools
	// are declared.
	Cloud Cloud
	// Cluster returns the Kubernetes cluster. It is not called where no budgets
	// are declared, and else several times: it must return the same. Nil where
	// there is none.
	Cluster func(ctx context.Context) (Cluster, error)
	// Store may be nil where nothing is asked but the usage of a selector.
	Store store.Store
	// Actor says who writes, for records and lock holders: "terraform", "reconcile".
	Actor string
	// LockTimeout bounds the wait for a pool's lock; zero does not wait.
	LockTimeout time.Duration
	// PollInterval is the first pause between two looks at settling instances;
	// later ones grow to ten times of it. Zero means DefaultPollInterval.
	PollInterval time.Duration
	// FreezeLag is how long API servers may go on admitting pods after a freeze:
	// nobody is evicted before. Zero means [budget.FreezeLag].
	FreezeLag time.Duration
	// Clock is this machine's; nil is time.Now.
	Clock func() time.Time
	Log   *slog.Logger
	// Progress hears of each step; nil hears nothing.
	Progress func(Event)

	observer observer
	reached  atomic.Pointer[Cluster] // for its count of calls
}

// drafted is the engine on a draft of its store.
func (e *Engine) drafted() *Engine {
	return &Engine{
		Cloud: e.Cloud, Cluster: e.Cluster, Store: draft.Over(e.Store), Actor: e.Actor, LockTimeout: e.LockTimeout,
		PollInterval: e.PollInterval, FreezeLag: e.FreezeLag, Clock: e.Clock, Log: e.Log, Progress: e.Progress,
	}
}

// DefaultPollInterval is the pause between two looks at settling instances.
const DefaultPollInterval = time.Second

// Event is one step of a run, as it happens.
type Event struct {
	Object  string // "spot_pool/ap-singapore/train"
	Message string
	// Counts are the pool's present numbers; nil where the step has none.
	Counts *spotpool.Counts
}

func (e *Engine) log() *slog.Logger {
	if e.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return e.Log
}

func (e *Engine) tell(object, message string, counts *spotpool.Counts) {
	if counts != nil {
		copied := *counts // the plan that they stand in goes on changing
		counts = &copied
	}
	if e.Progress != nil {
		e.Progress(Event{Object: object, Message: message, Counts: counts})
	}
}

func (e *Engine) pollInterval() time.Duration {
	if e.PollInterval <= 0 {
		return DefaultPollInterval
	}
	return e.PollInterval
}

// Calls counts the calls made so far to the cloud, by action, and to the
// cluster, by verb and resource.
func (e *Engine) Calls() map[string]int {
	calls := map[string]int{}
	if e.Cloud != nil {
		maps.Copy(calls, e.Cloud.Calls())
	}
	if c := e.reached.Load(); c != nil {
		maps.Copy(calls, (*c).Calls())
	}
	return calls
}

func callsSince(before, after map[string]int) map[string]int {
	calls := map[string]int{}
	for action, n := range after {
		if n -= before[action]; n > 0 {
			calls[action] = n
		}
	}
	return calls
}

func (e *Engine) now() time.Time {
	if e.Clock == nil {
		return time.Now()
	}
	return e.Clock()
}

func (e *Engine) freezeLag() time.Duration {
	if e.FreezeLag <= 0 {
		return budget.FreezeLag
	}
	return e.FreezeLag
}

// randomID returns 16 random bytes in hex.
func randomID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return hex.EncodeToString(b[:])
}
