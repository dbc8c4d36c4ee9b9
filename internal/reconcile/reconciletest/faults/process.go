package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrKilled is the error of all calls of a killed process.
var ErrKilled = errors.New("killed")

// ErrUnanswered is the error of a call whose response is lost.
var ErrUnanswered = errors.New("the connection was lost before the answer came")

// Fault is an injected fault of one process: it is killed at a call, or calls fail.
type Fault struct {
	On    string // the first call of this name, or, if calls fail, each of it
	At    int    // the nth call of any name, from 1; On then only names it
	After bool   // it takes effect first
	Times int    // so many calls fail, and the process lives; 0 kills it
	Err   error  // what they fail with; nil: ErrUnanswered
}

func (f Fault) String() string {
	if f == (Fault{}) {
		return "none"
	}
	text := map[bool]string{false: "before", true: "after"}[f.After]
	if f.At > 0 {
		text += fmt.Sprintf(" %d", f.At)
	}
	text += " " + f.On
	if f.Times > 0 {
		text += fmt.Sprintf(" fails x%d", f.Times)
	}
	return text
}

// hits reports whether the nth call is the fault's.
func (f Fault) hits(n int, name string) bool {
	return f.At > 0 && n == f.At || f.At == 0 && f.On != "" && name == f.On
}

// Process is one that meets a fault. Once it is killed nothing that it does has an effect,
// and the locks that it held are free. Its Hook makes each of its calls.
type Process struct {
	Fault Fault
	// Before runs before each call, unless nil: schedules wait here.
	Before func(Call)

	mu     sync.Mutex
	trace  []string
	failed int
	dead   bool
	locks  []Lock
}

// Killed is a process that is killed at its first call of a name, before or after it takes
// effect.
func Killed(on string, after bool) *Process {
	return &Process{Fault: Fault{On: on, After: after}}
}

// Lock is a lock that the end of a process releases.
type Lock interface{ Release() error }

// Hook makes a call, unless the process is killed before it or is dead.
func (p *Process) Hook(_ context.Context, c Call, do func() error) error {
	if p.Before != nil {
		p.Before(c)
	}
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return ErrKilled
	}
	p.trace = append(p.trace, c.Name)
	hit := p.Fault.hits(len(p.trace), c.Name) && (p.Fault.Times == 0 || p.failed < p.Fault.Times)
	kills := hit && p.Fault.Times == 0
	if hit {
		p.failed++
	}
	if kills && !p.Fault.After {
		p.die()
	}
	p.mu.Unlock()
	if !hit {
		return do()
	}
	if p.Fault.After {
		_ = do() // the response is lost
	}
	if !kills {
		return cmp.Or(p.Fault.Err, ErrUnanswered)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.die()
	return ErrKilled
}

// Kill kills the process wherever it is.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.die()
}

// die frees the locks, as the end of a process does; mu must be held.
func (p *Process) die() {
	p.dead = true
	for _, l := range p.locks {
		_ = l.Release()
	}
}

// Hold has the process hold a lock while it lives.
func (p *Process) Hold(l Lock) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.locks = append(p.locks, l)
	if p.dead {
		_ = l.Release()
	}
}

// Dead reports whether the process was killed.
func (p *Process) Dead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// Trace lists the names of the calls so far.
func (p *Process) Trace() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.trace)
}
