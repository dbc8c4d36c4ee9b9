package history_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// about is what an event of a pool tells, so many minutes after noon.
func about(pool string, minutes int) history.About {
	return history.About{
		At: noon.Add(time.Duration(minutes) * time.Minute), Object: "spot_pool/ap-singapore/" + pool, ObjectUID: "uid-" + pool,
		RunID: fmt.Sprintf("run-%d", minutes), Actor: "reconcile", Reasons: reason.Reasons{reason.BelowMinimum(1, 2)}, Outcome: "done",
	}
}

var (
	zone2    = history.Offering{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-a1b2c3d4"}
	zone3    = history.Offering{AvailabilityZone: "ap-singapore-3", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-e5f6a7b8"}
	instance = history.Instance{ID: "ins-aaaaaaa1", Offering: zone2, ChargeType: "SPOTPAID", Price: "1.90", Currency: "CNY"}
	pod      = history.Identity{Namespace: "ml", Name: "train-0", UID: "pod-1"}
	serve    = history.Identity{Namespace: "ml", Name: "Deployment/serve", UID: "workload-1"}
	gpuNode  = history.Node{InstanceID: "ins-aaaaaaa1", Name: "gpu-1", UID: "node-1"}
	soldOut  = history.Error{Class: "capacity", Code: "ResourcesSoldOut", Message: "sold out (RequestId 5b6e)", RequestID: "5b6e", Remedy: "add an offering"}
)

func ask(sequence int) history.Ask {
	return history.Ask{
		Sequence: sequence, WrittenAt: noon, Count: 2, Offering: zone2, ChargeType: "SPOTPAID", Price: "1.90", Currency: "CNY",
		InstanceIDs: []string{"ins-aaaaaaa1", "ins-aaaaaaa2"},
	}
}

func everyEvent(a history.About) []history.Event {
	return []history.Event{
		a.Launched(ask(1)), a.Refused(ask(2), soldOut),
		a.Instance(history.Begin, instance), a.Instance(history.Reclaim, instance), a.Instance(history.End, instance),
		a.Instance(history.Lost, instance), a.Instance(history.Detach, instance),
		a.Instances(history.Terminate, "ins-aaaaaaa1", "ins-aaaaaaa2"), a.Instances(history.Adopt, "ins-aaaaaaa3"),
		a.Declaration(history.Create), a.Updated(2), a.Declaration(history.Delete), a.Declaration(history.Destroy),
		a.Since(history.Freeze, noon), a.Since(history.Unfreeze, noon), a.Workload(history.Pause, serve, noon), a.Workload(history.Resume, serve, noon),
		a.Workload(history.Revert, serve, noon), a.Workload(history.Scale, serve, noon), a.Evict(pod),
		a.Evicted(pod, history.Done), a.Paused(serve, noon, history.Done), a.Since(history.Frozen, noon),
		a.Crossed(80, noon),
		a.Since(history.Exceeded, noon), a.Since(history.Recovered, noon), a.Since(history.GateClosed, noon), a.Since(history.GateOpened, noon),
		a.Since(history.Suspend, noon), a.Since(history.Unsuspend, noon),
		a.Priced(zone2, "SPOTPAID", "2.10", "CNY", noon),
		a.Failed(soldOut), a.RunFailed(soldOut),
		a.Exception(history.Grant, "grant-1", noon.Add(time.Hour)), a.Exception(history.Hold, "hold-1", noon.Add(time.Hour)),
		a.Exception(history.Release, "grant-1", time.Time{}), a.Lost("ledger/closed-2026-11-20.parquet", soldOut),
		a.Joined(gpuNode), a.Replaced(gpuNode, noon), a.Noticed(history.Notice, gpuNode, noon.Add(2*time.Minute)),
		a.Noticed(history.Withdrawn, gpuNode, noon.Add(2*time.Minute)), a.Drain(history.Drain, gpuNode, noon),
		a.Drained(gpuNode, noon, "timed_out"), a.Drain(history.Uncordon, gpuNode, noon), a.NodeDeleted(gpuNode),
	}
}

// anyEvents draws events of a few pools within two hours, some of which are told again.
func anyEvents() *rapid.Generator[[]history.Event] {
	return rapid.Custom(func(t *rapid.T) []history.Event {
		var events []history.Event
		for range rapid.IntRange(0, 40).Draw(t, "events") {
			a := about(rapid.SampledFrom([]string{"train", "infer"}).Draw(t, "pool"), rapid.IntRange(0, 120).Draw(t, "minutes"))
			sequence := rapid.IntRange(1, 9).Draw(t, "sequence")
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				events = append(events, a.Launched(ask(sequence)))
			case 1:
				refused := ask(sequence)
				refused.Offering = rapid.SampledFrom([]history.Offering{zone2, zone3}).Draw(t, "offering")
				events = append(events, a.Refused(refused, soldOut))
			case 2:
				events = append(events, a.Failed(soldOut))
			default:
				events = append(events, a.Instance(history.Begin, history.Instance{ID: fmt.Sprintf("ins-%d", sequence), Offering: zone3}))
			}
		}
		return events
	})
}

func codec(t testing.TB) *history.Codec {
	t.Helper()
	c, err := history.NewCodec()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type disk map[string][]byte

func (d disk) write(changes history.Changes) {
	for _, s := range append(changes.Segments, changes.Head) {
		d[s.Name] = s.Data
	}
}

// all are the events of a head and its segments, as they are kept.
func (d disk) all(t testing.TB, c *history.Codec, q history.Query) []history.Event {
	t.Helper()
	name := history.DayOf(noon).HeadName(1)
	h, err := c.Head(name, d[name], q)
	if err != nil {
		t.Fatal(err)
	}
	events := h.Events
	for _, s := range h.Segments {
		of, err := c.Segment(s.Name, d[s.Name], q)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, of...)
	}
	merged, added := history.Merge(nil, events...)
	if added != len(events) {
		t.Errorf("%d events are kept twice", len(events)-added)
	}
	return merged
}
