//go:build unix

package stage

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// watch hears of each call as it takes effect, before it is answered, and judges
// launches right then. It is the local CVM's log of calls.
type watch struct {
	world *World

	mu        sync.Mutex
	terms     schedule.Terms            // in force
	granted   map[string]schedule.Terms // by token: those under which a launch was written down
	images    map[string]string         // of machines that were ever seen
	destroyed []string                  // uids of pools that something said were gone
	history   []moment
}

// moment is the pool's capacity from a time on.
type moment struct {
	at       time.Time
	capacity int
}

func newWatch(w *World) *watch {
	return &watch{world: w, granted: map[string]schedule.Terms{}, images: map[string]string{}}
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

// sample notes the capacity of now.
func (w *watch) sample() {
	w.history = append(w.history, moment{at: time.Now(), capacity: pool.Capacity(w.world.machines(), w.world.server.Now())})
}

// Sample notes the capacity before something is done to machines.
func (w *watch) Sample() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sample()
}

func (w *watch) launch(call cvmsim.Call) {
	journal := w.world.journal()
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
	machines := w.world.machines()
	for _, i := range machines {
		w.images[i.InstanceID] = i.ImageID
	}
	terms := w.terms
	if granted, ok := w.granted[call.ClientToken]; ok {
		terms = terms.Either(granted)
	}
	for _, text := range pool.Broken(schedule.Launch{Call: call, Machines: machines, Now: w.world.server.Now(), Terms: terms, Destroyed: w.destroyed}) {
		w.world.broken("%s", text)
	}
}

// end counts machines of an outdated image that were ended though maximum left them
// room: by a refresh.
func (w *watch) end(call cvmsim.Call) {
	machines := w.world.machines()
	if !call.TookEffect || schedule.Held(machines)+len(call.InstanceIDs) > w.terms.Maximum {
		return
	}
	record, ok := w.world.record()
	if !ok {
		return
	}
	for _, i := range machines {
		if slices.Contains(call.InstanceIDs, i.InstanceID) && i.ImageID != record.Declaration.ImageID && record.Phase == active {
			w.world.count(func(c *schedule.Counts) { c.Refreshes++ })
		}
	}
}

// allow puts terms into force beside those that are.
func (w *watch) allow(terms schedule.Terms) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.terms = w.terms.Either(terms)
}

// enforce puts these terms into force alone. What was written down before may come
// under the ones before.
func (w *watch) enforce(terms schedule.Terms) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, i := range w.world.journal().Pending {
		if _, known := w.granted[i.Request.Token]; !known {
			w.granted[i.Request.Token] = w.terms
		}
	}
	w.terms = terms
}

// gone notes that something said that a pool is no more.
func (w *watch) gone(uid string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.destroyed, uid) {
		w.destroyed = append(w.destroyed, uid)
	}
}

// said are the uids of the pools that something said were gone.
func (w *watch) said() []string {
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

// mostSince is the largest capacity that there was at any moment from a time on.
func (w *watch) mostSince(at time.Time) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sample()
	most := 0
	for n, m := range w.history {
		if last := n == len(w.history)-1; last || w.history[n+1].at.After(at) {
			most = max(most, m.capacity)
		}
	}
	return most
}
