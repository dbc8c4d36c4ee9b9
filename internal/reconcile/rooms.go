package reconcile

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// seenRooms are the spot pools of which nodes could take pods, as they were last looked
// at for what asks for one stock pool alone.
type seenRooms struct {
	mu   sync.Mutex
	at   time.Time
	list []stockpool.Room
	err  error
}

// roomsAge is for how long one look serves all stock pools that ask.
const roomsAge = time.Minute

// rooms looks at the spot pools of which nodes could take pods, and says why each does
// not grow. It changes nothing.
func (e *Engine) rooms(ctx context.Context) ([]stockpool.Room, error) {
	s := &e.seenRooms
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := e.now().Sub(s.at); !s.at.IsZero() && age >= 0 && age < roomsAge {
		return s.list, s.err
	}
	run := e.dry().Pools().Run(spotpools.Options{}, &outcome.Warnings{})
	if s.list, s.err = nil, run.Read(ctx); s.err == nil {
		if nodes := run.Nodes(); len(nodes) > 0 {
			s.list = roomsOf(nodes, run.Overview(ctx))
		}
	}
	if ctx.Err() == nil {
		s.at = e.now()
	}
	return s.list, s.err
}

// roomsOf are the spot pools that have nodes, each with why it does not grow, as far as
// it was looked at.
func roomsOf(pools []spotpool.Declaration, seen []spotpools.Overview) []stockpool.Room {
	by := map[string]spotpools.Overview{}
	for _, o := range seen {
		by[o.Region+"/"+o.Name] = o
	}
	rooms := make([]stockpool.Room, 0, len(pools))
	for _, d := range pools {
		room := stockpool.Room{Pool: d.Key(), ClusterUID: d.ClusterUID, Labels: d.Nodes.Labels}
		for _, o := range d.Offerings {
			room.InstanceTypes = append(room.InstanceTypes, o.InstanceType)
		}
		if o, known := by[d.Key()]; known && o.Observed {
			room.Grows, room.Why = growth(o)
		}
		rooms = append(rooms, room)
	}
	return rooms
}

// roomsOfRun are those by what the run made of the pools.
func (r *run) roomsOfRun() []stockpool.Room {
	var seen []spotpools.Overview
	launches := map[string][]spotpool.Decision{}
	for _, result := range r.pools.Results() {
		if of, ok := result.Decision.(spotpool.Decision); ok && result.Outcome == outcome.Planned {
			launches[of.Object] = append(launches[of.Object], of)
		}
	}
	for _, p := range r.pools.Reports() {
		seen = append(seen, spotpools.Overview{Report: p, Decisions: launches[p.Summary().Object()]})
	}
	return roomsOf(r.pools.Nodes(), seen)
}

// growth says whether more nodes of a pool are on their way, and which, or else why not:
// what a person has to do first comes first.
func growth(p spotpools.Overview) (grows bool, why string) {
	launches, joining := 0, 0
	for _, d := range p.Decisions {
		if d.Kind == spotpool.KindLaunch {
			launches += d.Count
		}
	}
	if n := p.Nodes; n != nil && n.Seen {
		joining = n.Joining
	}
	switch {
	case p.Outcome == outcome.Failed && p.Error != nil:
		return false, p.Error.Message
	case p.Hold != nil:
		return false, fmt.Sprintf("it is on hold %s", p.Hold)
	case p.Wanted != nil && p.Gate != nil:
		return false, fmt.Sprintf("its exceeded budget %s drains it", p.Gate.Budget)
	case launches > 0:
		return true, fmt.Sprintf("the next run launches %d", launches)
	case joining > 0:
		return true, fmt.Sprintf("of its %d nodes, joining: %d", p.Nodes.All(), joining)
	case p.Gate != nil && p.Gate.Closed:
		return false, p.Gate.Reason
	case p.Nodes != nil && p.Nodes.ReplacingSuspended != "":
		return false, "replacing its nodes is suspended: " + p.Nodes.ReplacingSuspended
	case p.Shortfall > 0 && len(p.Short) > 0:
		return false, strings.Join(p.Short, "; ")
	case p.Held >= p.Maximum && p.Minimum == p.Maximum:
		return false, fmt.Sprintf("it holds its maximum of %d. Raise minimum and maximum", p.Maximum)
	case p.Held >= p.Maximum:
		return false, fmt.Sprintf("it holds its maximum of %d", p.Maximum)
	case p.Capacity >= p.Minimum:
		return false, fmt.Sprintf("it has its minimum of %d, which is all that gpupool keeps. Raise minimum", p.Minimum)
	}
	return false, fmt.Sprintf("it has %d of its minimum %d", p.Capacity, p.Minimum)
}
