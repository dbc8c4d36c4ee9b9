package meter

import (
	"fmt"
	"iter"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Sample is the usage of a budget at a time. In the future, Used assumes the present rate, and Idle that
// all pods end now.
type Sample struct {
	At         time.Time
	Used, Idle int64
}

// Course returns the usage of a budget at times, which are in order. At the moment between two calendar
// periods it is that of the first. It reads the records twice; dropped records are unknown.
func Course(d budget.Declaration, records iter.Seq[*ledger.Record], now time.Time, times []time.Time, zones budget.Zones) ([]Sample, error) {
	if len(times) == 0 {
		return nil, nil
	}
	present := ledger.TimeOf(now)
	p, err := newReplay(d, records, min(ledger.TimeOf(times[0]), present)-1, present, zones) // before a period that begins then
	if err != nil {
		return nil, fmt.Errorf("budget %s: %w", d.Name, err)
	}
	steps, rate := p.steps, int64(0)
	for n, s := range steps {
		if s.at > present {
			steps = steps[:n]
			break
		}
		rate += s.change
	}
	p.now = max(present, ledger.TimeOf(times[len(times)-1]))
	used, idle := p.sample(steps, times), p.sample(append(steps[:len(steps):len(steps)], step{present, -rate}), times)
	list := make([]Sample, len(times))
	for n := range times {
		list[n] = Sample{At: times[n], Used: used[n], Idle: idle[n]}
	}
	return list, nil
}

// sample returns the amount at each time.
func (p *replay) sample(steps []step, times []time.Time) []int64 {
	var amounts []int64
	f := &follower{from: p.from}
	f.reach = func(to ledger.Time) {
		for len(amounts) < len(times) {
			at := ledger.TimeOf(times[len(amounts)])
			if at > to {
				return
			}
			f.advance(at)
			amounts = append(amounts, p.amount(f.used))
		}
	}
	p.pass(f, steps)
	return amounts
}
