package stage

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// watch hears of each call as it takes effect, before it is answered, and judges
// launches right then. It is the local CVM's log of calls.
type watch struct {
	world *World

	mu        sync.Mutex
	terms     schedule.Terms            // in force
	granted   map[string]schedule.Terms // by token: those under which a launch was written down
	destroyed []string                  // UIDs of pools that a program reported as destroyed
	// capacities are the pool's, as it was sampled at each change and at each call.
	capacities []int
}

func newWatch(w *World) *watch {
	return &watch{world: w, granted: map[string]schedule.Terms{}}
}

// Write hears of one call. Calls come one after the other.
func (w *watch) Write(line []byte) (int, error) {
	var call cvmsim.Call
	if err := json.Unmarshal(line, &call); err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if call.Fault != "" {
		w.world.count(func(c *schedule.Counts) { c.Faults++ })
	}
	w.sample()
	switch call.Action {
	case "RunInstances":
		w.launch(call)
	case "TerminateInstances":
		w.end(call)
	}
	w.world.log.say("  %s %s%s%s", call.Action, call.Outcome, note(" fault ", call.Fault), note(" ", strings.Join(call.InstanceIDs, " ")))
	return len(line), nil
}

func note(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

func (w *watch) sample() {
	w.capacities = append(w.capacities, Pool.Capacity(w.world.cloud.machines(), w.world.cloud.Now()))
}

// Sample notes the capacity before something is done to machines, and returns which sample
// that is.
func (w *watch) Sample() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sample()
	return len(w.capacities) - 1
}

func (w *watch) launch(call cvmsim.Call) {
	journal := w.world.records.journal()
	var open []string
	for _, i := range journal.Pending {
		open = append(open, i.Request.Token)
	}
	for _, text := range schedule.Asked(call, open) {
		w.world.broken("%s", text)
	}
	if !call.TookEffect {
		return
	}
	w.world.count(func(c *schedule.Counts) { c.Launches += len(call.InstanceIDs) })
	machines := w.world.cloud.machines()
	terms := w.terms
	if granted, ok := w.granted[call.ClientToken]; ok {
		terms = terms.Either(granted)
	}
	for _, text := range Pool.Broken(schedule.Launch{Call: call, Machines: machines, Now: w.world.cloud.Now(), Terms: terms, Destroyed: w.destroyed}) {
		w.world.broken("%s", text)
	}
}

// end counts machines of an older image that were terminated within maximum: by a refresh.
func (w *watch) end(call cvmsim.Call) {
	machines := w.world.cloud.machines()
	if !call.TookEffect || schedule.Held(machines)+len(call.InstanceIDs) > w.terms.Maximum {
		return
	}
	record, ok := w.world.records.pool()
	if !ok {
		return
	}
	for _, i := range machines {
		if slices.Contains(call.InstanceIDs, i.InstanceID) && i.ImageID != record.Declaration.ImageID && record.Phase == declaration.Active {
			w.world.count(func(c *schedule.Counts) { c.Refreshes++ })
		}
	}
}

// allow adds terms to those in force.
func (w *watch) allow(terms schedule.Terms) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.terms = w.terms.Either(terms)
}

// enforce replaces the terms in force. Earlier journal entries may follow the earlier ones.
func (w *watch) enforce(terms schedule.Terms) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, i := range w.world.records.journal().Pending {
		if _, known := w.granted[i.Request.Token]; !known {
			w.granted[i.Request.Token] = w.terms
		}
	}
	w.terms = terms
}

// gone records a report that a pool is destroyed.
func (w *watch) gone(uid string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.destroyed, uid) {
		w.destroyed = append(w.destroyed, uid)
	}
}

// reportedDestroyed returns the UIDs of the pools that a program reported as destroyed.
func (w *watch) reportedDestroyed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.destroyed)
}

// forget forgets the destroyed pools, since the store that had their tombstones is lost.
func (w *watch) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.destroyed = nil
}

func (w *watch) mostSince(sample int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sample()
	return slices.Max(w.capacities[sample:])
}
