package spotpools

import (
	"context"
	"io"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Flow carries declarations of spot pools out, for one account and one store.
type Flow struct {
	// Cloud may be a LazyCloud: it is called only where pools are declared.
	Cloud Cloud
	// Cluster returns the Kubernetes cluster whose nodes instances become. It is called
	// only where pools have nodes, and then several times: it must return the same. Nil
	// where there is none.
	Cluster func(ctx context.Context) (Cluster, error)
	Keeper  record.Keeper
	Teller  outcome.Teller
	// Clock is this machine's.
	Clock func() time.Time
	// PollInterval is the first pause between two looks at settling instances; later
	// pauses grow to ten times of it. Zero means DefaultPollInterval.
	PollInterval time.Duration
	// Random is what the secrets of bootstrap tokens are drawn from; nil for the
	// system's own.
	Random io.Reader

	observer observer
	sights   sights
	outbox   record.Outbox
}

// DefaultPollInterval is the pause between two looks at settling instances.
const DefaultPollInterval = time.Second

// records is the life of the store's pools.
func (f *Flow) records() record.Life[spotpool.Declaration] { return record.SpotPools(f.Keeper) }

func (f *Flow) now() time.Time { return f.Clock() }

// note takes up events that stand in no journal.
func (f *Flow) note(events ...history.Event) {
	f.outbox.Note(f.outbox.Sign(events, f.Keeper.Actor)...)
}

// tell tells the history what an operation did.
func (f *Flow) tell(ctx context.Context) {
	f.Keeper.TellAfter(ctx, &f.outbox, f.Clock, f.Teller.HistoryLacks)
}

// Outbox is what is to be told of pools.
func (f *Flow) Outbox() *record.Outbox { return &f.outbox }

func (f *Flow) pollInterval() time.Duration {
	if f.PollInterval <= 0 {
		return DefaultPollInterval
	}
	return f.PollInterval
}
