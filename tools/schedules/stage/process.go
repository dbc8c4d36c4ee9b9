package stage

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// Process is one run of a program. It has its own access to the local CVM, which shows the
// caller and its pending call, and a way to kill it.
type Process struct {
	world *World
	name  string
	plan  schedule.Process

	mu      sync.Mutex
	signal  func(schedule.Victim) error // nil before it began and after its end
	timers  []*time.Timer
	reached map[string]int // how often each point was reached
	under   []string       // the calls under way
	paused  int            // how many pauses were made
	killed  schedule.Victim
	looked  int // the sample of when its last observation of machines began
}

// ErrOver reports that there is nothing to kill.
var ErrOver = errors.New("it is over")

// Begin reports that the process runs, and how it is killed. stores means that it reports its
// writes to the store by At.
func (p *Process) Begin(stores bool, signal func(schedule.Victim) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signal = signal
	p.timers = append(p.timers, time.AfterFunc(patience, func() {
		p.world.log.say("%s takes longer than %s", p.name, patience)
		p.kill(schedule.Both)
	}))
	if k := p.plan.Kill; k != nil && (k.Point == "" || !stores && slices.Contains(schedule.StorePoints, k.Point)) {
		p.timers = append(p.timers, time.AfterFunc(time.Duration(k.At), func() { p.kill(k.Victim) }))
	}
}

// end reports that the process ended, and returns whether it was killed and when its last
// observation of machines began.
func (p *Process) end() (killed bool, looked int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signal = nil
	for _, timer := range p.timers {
		timer.Stop()
	}
	return p.killed != "", p.looked
}

// Killed names the killed process; empty if there is none.
func (p *Process) Killed() schedule.Victim {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// At reports that the process reached a point, or that its effect took place, and kills it if
// that is due.
func (p *Process) At(point string, after bool) {
	p.mu.Lock()
	if !after {
		p.reached[point]++
		p.world.log.say("%s: %s", p.name, point)
	}
	k := p.plan.Kill
	due := k != nil && k.Point == point && k.After == after && k.Nth == p.reached[point] && p.killed == ""
	p.mu.Unlock()
	if due {
		p.kill(k.Victim)
	}
}

// Pause lets other processes in.
func (p *Process) Pause() {
	if len(p.plan.Pauses) == 0 {
		return
	}
	p.mu.Lock()
	pause := p.plan.Pauses[p.paused%len(p.plan.Pauses)]
	p.paused++
	p.mu.Unlock()
	time.Sleep(time.Duration(pause))
}

// kill kills the process, unless it ended before, and counts it.
func (p *Process) kill(victim schedule.Victim) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed != "" || p.signal == nil || p.signal(victim) != nil {
		return
	}
	p.killed = victim
	p.world.log.say("SIGKILL of %s (%s), in %q", p.name, victim, p.under)
	p.world.count(func(c *schedule.Counts) {
		c.Kills++
		if len(p.under) > 0 {
			c.KillsInCalls++
		}
	})
}

// ServeHTTP passes a call on. A process that is killed before that never makes the call.
func (p *Process) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	action := r.Header.Get("X-Tc-Action")
	p.Pause()
	sample := p.world.watch.Sample()
	if action == "DescribeInstances" && p.beginsObservation(r) {
		p.looks(sample)
	}
	p.called(action)
	defer p.answered(action)
	p.At(action, false)
	if victim := p.Killed(); victim != "" && victim != schedule.Core || r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	p.world.cloud.ServeHTTP(&answering{ResponseWriter: w, effective: sync.OnceFunc(func() { p.At(action, true) })}, r)
}

func (p *Process) called(action string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.under = append(p.under, action)
}

func (p *Process) looks(sample int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looked = sample
}

func (p *Process) answered(action string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := slices.Index(p.under, action); n >= 0 {
		p.under = slices.Delete(p.under, n, n+1)
	}
}

// beginsObservation reports whether a call lists instances, and not those of a destroyed pool. One by
// instance IDs completes an observation that began with a listing.
func (p *Process) beginsObservation(r *http.Request) bool {
	body, _ := io.ReadAll(r.Body) // a call that is cut short fails
	r.Body = io.NopCloser(bytes.NewReader(body))
	about := func(text string) bool { return bytes.Contains(body, []byte(text)) }
	return !about(`"InstanceIds":[`) && !slices.ContainsFunc(p.world.watch.reportedDestroyed(), about)
}

// answering hears of it when an answer is about to be written, or the connection taken
// over to be reset.
type answering struct {
	http.ResponseWriter

	effective func()
}

func (a *answering) WriteHeader(status int) { a.effective(); a.ResponseWriter.WriteHeader(status) }
func (a *answering) Write(data []byte) (int, error) {
	a.effective()
	return a.ResponseWriter.Write(data)
}
func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }
func (a *answering) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	a.effective()
	return http.NewResponseController(a.ResponseWriter).Hijack()
}
