// Package schedule has what make schedules plays, as data. A generator draws rounds, and a
// failing schedule is made smaller. What must hold during and after each round are functions of
// the local CVM's record. The package starts nothing and reads no clock.
package schedule

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// Duration is a length of time, as JSON has it: "1.5s".
type Duration = cvmsim.Duration

// Schedule is a number of rounds that follow each other in one world.
type Schedule struct {
	Seed   uint64  `json:"seed,omitempty"` // that it was drawn from; 0 if it was not
	Rounds []Round `json:"rounds"`
}

// Operation is an operation of Terraform in a round.
type Operation string

// The operations.
const (
	Apply   Operation = "apply"
	Destroy Operation = "destroy"
)

// Loss is a loss of documents before a round, while nothing runs.
type Loss string

// The documents that may be lost.
const (
	LostJournal Loss = "journal"
	LostStore   Loss = "store"
)

// Remedy is how a person continues after a round, once the local CVM has recovered.
type Remedy string

// The remedies.
const (
	ByReconcile Remedy = "reconcile"
	ByTerraform Remedy = "terraform" // the same operation once more
	ByImport    Remedy = "import"    // of what Terraform's state lacks, and an apply
)

// Round is a time in which processes run, the local CVM fails and interrupts machines, and
// processes are killed. Times count from its beginning.
type Round struct {
	Operation  Operation      `json:"operation"`
	Terms      Terms          `json:"terms"` // the configuration from now on
	Loss       Loss           `json:"loss,omitempty"`
	Stopping   int            `json:"stopping,omitempty"`  // members in the state STOPPING until the round is over
	Protected  int            `json:"protected,omitempty"` // members that are protected from termination until then
	Weather    Weather        `json:"weather"`
	Faults     []cvmsim.Fault `json:"faults,omitempty"`
	Stock      *int64         `json:"stock,omitempty"` // in each zone; nil is plenty
	Terraform  Process        `json:"terraform"`
	Reconciles []Process      `json:"reconciles,omitempty"`
	Reclaims   []Reclaim      `json:"reclaims,omitempty"`
	Remedy     Remedy         `json:"remedy"`
}

// Weather is the state of the local CVM in a round.
type Weather struct {
	// Delays of the world's clock.
	LaunchDelay    Duration `json:"launch_delay"`
	TerminateDelay Duration `json:"terminate_delay"`
	ListingDelay   Duration `json:"listing_delay,omitzero"`
	TagDelay       Duration `json:"tag_delay,omitzero"`
	// Pace is how much of the world's time passes in a second of the processes'.
	Pace  Duration `json:"pace"`
	Jumps []Jump   `json:"jumps,omitempty"`
}

// Jump is a step of the world's clock.
type Jump struct {
	At Duration `json:"at"`
	By Duration `json:"by"`
}

// Process is one run of a program.
type Process struct {
	Start Duration `json:"start,omitzero"`
	Wait  bool     `json:"wait,omitempty"` // reconcile --wait
	// Pauses are made in turn before each of its calls and, in a simulation, each of its writes
	// to the store. They give other processes time.
	Pauses []Duration `json:"pauses,omitempty"`
	Kill   *Kill      `json:"kill,omitempty"`
}

// Victim is which of the processes of Terraform a kill ends.
type Victim string

// The victims. A reconcile is one process.
const (
	Both     Victim = "both"
	Core     Victim = "terraform" // its provider continues until it notices
	Provider Victim = "provider"
)

// Kill is a SIGKILL: at a point, or at a moment.
type Kill struct {
	Victim Victim `json:"victim"`
	// Point is an action of Tencent Cloud, such as RunInstances, or a write of the store, such
	// as "Write journals"; empty means a time.
	Point string `json:"point,omitempty"`
	Nth   int    `json:"nth,omitempty"`   // which of the point's calls, from 1
	After bool   `json:"after,omitempty"` // right after that took effect, not right before
	// At is the moment, from the start of the process. A kill at a write of the store comes
	// then as well if the player doesn't see the store's writes.
	At Duration `json:"at,omitzero"`
}

// Reclaim interrupts machines of the pool.
type Reclaim struct {
	At     Duration `json:"at,omitzero"`
	Count  int      `json:"count"`
	Notice Duration `json:"notice,omitzero"`
	View   string   `json:"view"`
}

// Read reads the JSON form of a schedule.
func Read(data []byte) (s Schedule, err error) {
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return s, fmt.Errorf("not a schedule: %w", err)
	}
	return s, nil
}

// JSON is the form that Read reads.
func (s Schedule) JSON() []byte {
	data, _ := json.MarshalIndent(s, "", " ") // plain data encodes
	return append(data, '\n')
}

// String is a schedule for people, a line a round.
func (s Schedule) String() string {
	var b strings.Builder
	for n, r := range s.Rounds {
		fmt.Fprintf(&b, "%d: %s\n", n+1, r)
	}
	return b.String()
}

// String is a round on one line: its JSON form without the quotes.
func (r Round) String() string {
	data, _ := json.Marshal(r) // plain data encodes
	return strings.ReplaceAll(string(data), `"`, "")
}
