package days

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// strategy maintains the pools every five minutes.
type strategy interface{ maintain(*stage) }

var ways = []struct {
	name  string
	nodes bool
	strategy
}{
	{"gpupool, with nodes", true, gpupool{}},
	{"gpupool, without nodes", false, gpupool{}},
	{"a plain loop", false, loop{}},
}

// releasedAfter is the reaction time of a person.
const releasedAfter = 15 * time.Minute

type gpupool struct{}

func (gpupool) maintain(s *stage) {
	process := reconcile.World{Cloud: steady{s.client, s}, Cluster: s.cluster.Connect, Store: s.store, Actor: "days", Clock: s.clock}
	report, err := process.Runner().Run(context.Background(), reconcile.RunOptions{})
	s.must(err)
	for _, d := range report.Decisions {
		s.log("%s %s", d.Outcome, d.Decision)
	}
	for _, p := range report.SpotPools {
		if len(p.Short)+len(p.Warnings) > 0 {
			s.log("%s: %v %v", p.Name, p.Short, p.Warnings)
		}
		at := slices.IndexFunc(s.pools, func(o *pool) bool { return o.Name == p.Name })
		s.onCall(process, s.pools[at], slices.ContainsFunc(p.Warnings, func(w reason.Reason) bool { return strings.Contains(w.String(), "in a row failed") }))
	}
}

// onCall is a person who resumes the replacement of a pool, a while after a run reported its
// suspension.
func (s *stage) onCall(process reconcile.World, p *pool, suspended bool) {
	switch {
	case !suspended:
		p.suspended = time.Time{}
	case p.suspended.IsZero():
		s.counts["replacing suspended"]++
		p.suspended = s.clock()
	case s.clock().Sub(p.suspended) >= releasedAfter:
		_, err := process.SpotPools().Release(context.Background(), p.Key(), exception.Release{Who: "on call", Why: "the image joins again"})
		s.must(err)
	}
}

// steady only asks for prices and stock if they changed: most of a day's time would go into
// reading them.
type steady struct {
	*tencent.Client
	stage *stage
}

func (c steady) Markets(ctx context.Context, region string) (spotpool.Markets, error) {
	if c.stage.markets == nil {
		markets, err := c.Client.Markets(ctx, region)
		if err != nil {
			return markets, err
		}
		c.stage.markets = &markets
	}
	return *c.stage.markets, nil
}

// loop is what one writes in an afternoon: it ends what is to end, and launches what is
// missing wherever it is granted. It drains nothing and remembers nothing.
type loop struct{}

func (loop) maintain(s *stage) {
	for _, p := range s.pools {
		list, _, err := s.client.ObservePool(context.Background(), p.Region, p.UID, nil)
		s.must(err)
		list = slices.DeleteFunc(list, func(i spotpool.Instance) bool {
			return i.State != spotpool.StateRunning && i.State != spotpool.StatePending
		})
		ending := s.chosen(p, list)
		if len(ending) > 0 {
			_, err = s.client.Terminate(context.Background(), p.Region, ending)
			s.must(err)
		}
		s.refill(p, p.Minimum-len(list)+len(ending))
	}
}

// chosen are the machines that the loop ends: all that fail, one of those that have
// another image, and the newest above the maximum.
func (s *stage) chosen(p *pool, list []spotpool.Instance) []spotpool.Instance {
	slices.SortFunc(list, func(a, b spotpool.Instance) int {
		return cmp.Or(b.LaunchedAt.Compare(a.LaunchedAt), cmp.Compare(a.ID, b.ID))
	})
	var ending, rest []spotpool.Instance
	outdated := false
	for _, i := range list {
		m := p.machines[i.ID]
		switch {
		case i.State != spotpool.StateRunning || m == nil:
			rest = append(rest, i)
		case s.failed(m):
			ending = append(ending, i)
		case m.ImageID != p.ImageID && !outdated:
			outdated = true
			ending = append(ending, i)
		default:
			rest = append(rest, i)
		}
	}
	for len(rest) > p.Maximum {
		ending, rest = append(ending, rest[0]), rest[1:]
	}
	return ending
}

// refill launches so many machines in the first offering that grants them.
func (s *stage) refill(p *pool, n int) {
	if n <= 0 {
		return
	}
	for k, o := range p.Offerings {
		_, _, err := s.client.Launch(context.Background(), spotpool.Request{
			Region: p.Region, Pool: p.Name, UID: p.UID, Sequence: 2, SeqTag: 2, Token: fmt.Sprintf("loop-%s-%s-%d", p.Name, s.now, k),
			Offering: o, ChargeType: spotpool.Spot, Count: n, Configuration: p.Configuration,
			ConfigurationTag: spotpool.ConfigurationTag(p.Configuration, o, spotpool.Spot),
		})
		if err == nil {
			return
		}
	}
}
