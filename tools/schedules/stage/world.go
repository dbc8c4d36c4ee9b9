package stage

import (
	"fmt"
	"sync"

	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// World is a local CVM, and programs that run against it.
type World struct {
	programs Programs
	cloud    *cloud
	records  records
	watch    *watch
	log      *log
	terms    schedule.Terms // of the configuration

	counting sync.Mutex
	counts   schedule.Counts
	runs     int // programs started so far
}

// New creates a world with foreign machines.
func New(programs Programs) (*World, error) {
	w := &World{programs: programs, log: newLog()}
	w.records = records{programs, w.log}
	w.watch = newWatch(w)
	var err error
	w.cloud, err = newCloud(w.log, w.watch)
	return w, err
}

// Close ends the local CVM.
func (w *World) Close() error { return w.cloud.Close() }

// Log is all that happened.
func (w *World) Log() string { return w.log.last(1 << 30) }

func (w *World) count(change func(*schedule.Counts)) {
	w.counting.Lock()
	defer w.counting.Unlock()
	change(&w.counts)
}

// name names the next run of a program.
func (w *World) name(verb Verb) string {
	w.counting.Lock()
	defer w.counting.Unlock()
	w.runs++
	return fmt.Sprintf("%d %s", w.runs, verb)
}

// Counts count the events so far.
func (w *World) Counts() schedule.Counts {
	w.counting.Lock()
	defer w.counting.Unlock()
	return w.counts
}

// broken notes that something was broken that must hold.
func (w *World) broken(format string, args ...any) { w.log.broken(format, args...) }
