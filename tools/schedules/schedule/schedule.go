// Package schedule is what make schedules plays, as data: rounds that are drawn
// from a seed, and what must hold during and after each of them, as functions over
// what the local CVM recorded. It starts nothing and reads no clock.
package schedule

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// Schedule is a number of rounds that follow each other in one world.
type Schedule struct {
	Seed   uint64
	Rounds []Round
}

// Operation is what Terraform does in a round.
type Operation string

// The operations.
const (
	Apply   Operation = "apply"
	Destroy Operation = "destroy"
)

// Loss is what the store loses before a round, while nothing runs.
type Loss string

// What may be lost; the empty one is nothing.
const (
	LostJournal Loss = "journal"
	LostStore   Loss = "store"
)

// Remedy is how a person goes on after a round, once the cloud is well again.
type Remedy string

// The remedies.
const (
	ByReconcile Remedy = "reconcile"
	ByTerraform Remedy = "terraform" // the same operation once more
	ByImport    Remedy = "import"    // of what Terraform's state lacks, and an apply
)

// Round is a while in which processes run beside each other, the cloud fails and
// takes machines back, and processes are killed. Times count from its beginning.
type Round struct {
	Terms      Terms // what the configuration says from now on
	Operation  Operation
	Loss       Loss
	Stopping   int // members that the cloud shows as STOPPING until the round is over
	Protected  int // members that are protected from termination until then
	Weather    Weather
	Faults     []cvmsim.Fault
	Stock      int64 // in each zone
	Terraform  Process
	Reconciles []Process
	Reclaims   []Reclaim
	Remedy     Remedy
}

// Weather is how the cloud is in a round.
type Weather struct {
	LaunchDelay, TerminateDelay, ListingDelay, TagDelay time.Duration // of the world's clock
	// Pace is how much of the world's time goes by in a second of ours.
	Pace  time.Duration
	Jumps []Jump
}

// Jump is a step of the world's clock.
type Jump struct{ At, By time.Duration }

// Process is one run of a program.
type Process struct {
	Start time.Duration
	Wait  bool // reconcile --wait
	Kill  *Kill
}

// Victim is which of the processes of terraform a kill ends.
type Victim string

// The victims. A reconcile is one process.
const (
	Both     Victim = "both"
	Core     Victim = "terraform" // its provider goes on until it notices
	Provider Victim = "provider"
)

// Kill is a SIGKILL: at a moment, or in the middle of a call.
type Kill struct {
	Victim Victim
	// Action is the call in which it comes, as soon as the Nth of them began; empty
	// means at a moment.
	Action string
	Nth    int
	// After is how long after the start, or after the call began.
	After time.Duration
}

// Reclaim is the cloud taking machines of the pool back.
type Reclaim struct {
	At     time.Duration
	Count  int
	Notice time.Duration
	View   string
}
