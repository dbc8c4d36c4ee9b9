//go:build unix

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// progress tells on a stream how far the schedules are, every few seconds.
type progress struct {
	out    io.Writer
	rounds int
	ended  chan struct{}

	mu sync.Mutex
	at map[uint64]int // of the schedules that are being played
}

const toldEvery = 5 * time.Second

func newProgress(out io.Writer, rounds int) *progress {
	p := &progress{out: out, rounds: rounds, ended: make(chan struct{}), at: map[uint64]int{}}
	go func() {
		for {
			select {
			case <-p.ended:
				return
			case <-time.After(toldEvery):
				p.tell()
			}
		}
	}()
	return p
}

func (p *progress) stop() { close(p.ended) }

func (p *progress) round(seed uint64, round int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at[seed] = round
}

func (p *progress) done(seed uint64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.at, seed)
	how := "is done"
	if err != nil {
		how = "failed"
	}
	fmt.Fprintf(p.out, "seed %d %s\n", seed, how)
}

func (p *progress) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	var parts []string
	for _, seed := range slices.Sorted(maps.Keys(p.at)) {
		parts = append(parts, fmt.Sprintf("seed %d in round %d of %d", seed, p.at[seed]+1, p.rounds))
	}
	fmt.Fprintln(p.out, strings.Join(parts, ", "))
}
