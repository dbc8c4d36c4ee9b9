// Package stage plays schedules. In each round, programs run at the same time against a local
// CVM in this process, which fails and interrupts machines. The stage watches each call,
// compares the programs' reports with the local CVM, and kills programs.
//
// The programs are behind the interface Programs: Binaries, or the same flows in one process
// and in simulated time (tools/schedules/simulated).
package stage

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// Programs run in a world. They have a state and a store.
type Programs interface {
	// Run runs a command to its end. Its calls go through p, which it tells how to kill it.
	Run(ctx context.Context, c Command, p *Process) (Ending, error)
	// State is the uid of the pool in Terraform's state; empty if that has none.
	State() string
	// Store opens the store; an error if there is none yet.
	Store() (store.Store, error)
	// LoseStore removes all of the store.
	LoseStore() error
}

// How long programs wait.
const (
	ApplyTimeout     = 4 * time.Second
	DestroyTimeout   = 15 * time.Second
	ReconcileTimeout = 20 * time.Second
	RunLockTimeout   = time.Second // with other runs
	// Orphaned is how long a provider may continue whose Terraform was killed.
	Orphaned = 1500 * time.Millisecond
)

// Verb is the command of a program.
type Verb string

// The verbs. All but Reconcile are Terraform's.
const (
	Apply     Verb = "apply"
	Destroy   Verb = "destroy"
	Import    Verb = "import"
	Refresh   Verb = "refresh"
	Reconcile Verb = "reconcile"
)

// Command is a command line.
type Command struct {
	Verb   Verb
	Terms  schedule.Terms // of the configuration
	Stale  bool           // destroy by the state as it is, without a refresh
	Wait   bool           // reconcile --wait
	Beside bool           // reconcile soon gives up on the lock of another run
}

// Ending is the result of a program.
type Ending struct {
	Code   int // 0 is success
	Text   string
	Report reconcile.Report // of Reconcile

	verb   Verb
	killed bool
	looked int // the sample of when its last observation of machines began
}
