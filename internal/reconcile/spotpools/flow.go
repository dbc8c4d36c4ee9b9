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

// Ports are the dependencies of flows of spot pools, for one account and one store.
type Ports struct {
	// Cloud may be a LazyCloud: it is called only if pools are declared.
	Cloud Cloud
	// Cluster returns the Kubernetes cluster of the nodes. It is called only if pools have
	// nodes, and must always return the same. Nil if there is none.
	Cluster    func(ctx context.Context) (Cluster, error)
	Repository record.Repository
	Reporter   outcome.Reporter
	// Clock is the local clock.
	Clock func() time.Time
	// PollInterval is the first pause between two observations of settling instances. Later
	// pauses grow to ten times of it. Zero means DefaultPollInterval.
	PollInterval time.Duration
	// Random is the source of bootstrap token secrets; nil for crypto/rand.
	Random io.Reader
}

// Flow carries out declarations of spot pools.
type Flow struct {
	*Ports
	*journals
	*cloudObserver
	*clusterObserver
	gates
	holder
}

// New returns the flow with these ports.
func New(p Ports) *Flow {
	j := &journals{Ports: &p}
	return &Flow{
		Ports: &p, journals: j, cloudObserver: &cloudObserver{Ports: &p}, clusterObserver: &clusterObserver{Ports: &p}, gates: gates{&p},
		holder: holder{&p, j},
	}
}

// DefaultPollInterval is the pause between two observations of settling instances.
const DefaultPollInterval = time.Second

func (p *Ports) records() record.Lifecycle[spotpool.Declaration] {
	return record.SpotPools(p.Repository)
}

func (p *Ports) now() time.Time { return p.Clock() }

// note collects events that are in no journal.
func (k *journals) note(events ...history.Event) {
	k.outbox.Note(k.outbox.Sign(events, k.Repository.Actor)...)
}

// report reports the collected events to the history.
func (k *journals) report(ctx context.Context) {
	k.Repository.ReportAfter(ctx, &k.outbox, k.Clock, k.Reporter.HistoryLacks)
}

// Outbox returns the collected events.
func (k *journals) Outbox() *record.Outbox { return &k.outbox }

func (p *Ports) pollInterval() time.Duration {
	if p.PollInterval <= 0 {
		return DefaultPollInterval
	}
	return p.PollInterval
}
