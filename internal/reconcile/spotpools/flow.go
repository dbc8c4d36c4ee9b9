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

// Ports are what flows of spot pools need of the world, for one account and one store.
type Ports struct {
	// Cloud may be a LazyCloud: it is called only where pools are declared.
	Cloud Cloud
	// Cluster returns the Kubernetes cluster whose nodes instances become. It is called
	// only where pools have nodes, and then several times: it must return the same. Nil
	// where there is none.
	Cluster    func(ctx context.Context) (Cluster, error)
	Repository record.Repository
	Reporter   outcome.Reporter
	// Clock is this machine's.
	Clock func() time.Time
	// PollInterval is the first pause between two observations of settling instances;
	// later pauses grow to ten times of it. Zero means DefaultPollInterval.
	PollInterval time.Duration
	// Random is what the secrets of bootstrap tokens are drawn from; nil for the
	// system's own.
	Random io.Reader
}

// Flow carries declarations of spot pools out.
type Flow struct {
	*Ports
	*journals
	*cloudObserver
	*clusterObserver
	gates
	holder
}

// New is the flow over these ports.
func New(p Ports) *Flow {
	j := &journals{Ports: &p}
	return &Flow{
		Ports: &p, journals: j, cloudObserver: &cloudObserver{Ports: &p}, clusterObserver: &clusterObserver{Ports: &p}, gates: gates{&p},
		holder: holder{&p, j},
	}
}

// DefaultPollInterval is the pause between two observations of settling instances.
const DefaultPollInterval = time.Second

// records is the life of the store's pools.
func (p *Ports) records() record.Lifecycle[spotpool.Declaration] {
	return record.SpotPools(p.Repository)
}

func (p *Ports) now() time.Time { return p.Clock() }

// note takes up events that stand in no journal.
func (k *journals) note(events ...history.Event) {
	k.outbox.Note(k.outbox.Sign(events, k.Repository.Actor)...)
}

// report reports to the history what an operation did.
func (k *journals) report(ctx context.Context) {
	k.Repository.ReportAfter(ctx, &k.outbox, k.Clock, k.Reporter.HistoryLacks)
}

// Outbox is what is to be told of pools.
func (k *journals) Outbox() *record.Outbox { return &k.outbox }

func (p *Ports) pollInterval() time.Duration {
	if p.PollInterval <= 0 {
		return DefaultPollInterval
	}
	return p.PollInterval
}
