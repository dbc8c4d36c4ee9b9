package ledger_test

import (
	"fmt"
	"math/big"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

const cluster = "5f0c1d2e-9a8b-4c7d-8e6f-001122334455"

const (
	second ledger.Time = 1000
	minute             = 60 * second
	hour               = 60 * minute
	day                = 24 * hour

	// noon is 2026-11-20T12:00:00Z.
	noon = ledger.Time(1_795_176_000_000)
)

func uid(n int) string { return fmt.Sprintf("%08x-3c5d-4e6f-8a9b-0c1d2e3f4a5b", uint32(n)*2654435761) }

// pod is the record of a pod with one GPU that was first observed a minute after its start.
func pod(n int, start ledger.Time) ledger.Record {
	return ledger.Record{
		UID: uid(n), Name: fmt.Sprintf("train-7d9f8b6c5d-%05d", n), Seen: start + minute,
		Set: &ledger.LabelSet{
			Namespace: "ml", Labels: ledger.LabelsOf(map[string]string{"team": "a", "app": "train"}),
			NamespaceLabels: ledger.LabelsOf(map[string]string{"kubernetes.io/metadata.name": "ml"}),
		},
		Owner:      &ledger.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "train-7d9f8b6c5d", UID: uid(-1)},
		Allocation: gpus(1),
		Place:      &ledger.Place{Node: "node-1", Model: "Tesla-T4", InstanceType: "GN7.2XLARGE32", InstanceID: "ins-a1b2c3d4"},
		Start:      ledger.Start{At: start, Source: ledger.PodScheduled},
		Runs:       ledger.Start{At: start + 2*second, Source: ledger.ContainerStarted},
	}
}

func gpus(n int64) *ledger.Allocation {
	return &ledger.Allocation{Shown: 1, Shares: []ledger.Share{{Resource: "nvidia.com/gpu", Units: big.NewRat(n, 1), Weight: big.NewRat(1, 1)}}}
}

func ended(r ledger.Record, at ledger.Time, source ledger.Source) ledger.Record {
	r.End = ledger.ExactEnd(at, source)
	return r
}

var sources = []ledger.Source{
	ledger.ContainerFinished, ledger.DisruptionTarget, ledger.NotReady, ledger.DeletionTimestamp, ledger.StatusWritten,
	ledger.InstanceEnded, ledger.NodeGone, ledger.SeenTerminal, ledger.Event, ledger.Estimated,
}

// rivals are a few sources of each kind, so that they meet.
var rivals = []ledger.Source{ledger.ContainerFinished, ledger.InstanceEnded, ledger.Event, ledger.Estimated}

// neighbors are pods of which all but the last are in one document while they are open.
var neighbors = []int{1, 123, 146, 2}

// anyRecord draws a record of one of a few similar pods, so that records meet.
func anyRecord() *rapid.Generator[ledger.Record] {
	return rapid.Custom(func(t *rapid.T) ledger.Record {
		r := pod(rapid.SampledFrom(neighbors).Draw(t, "pod"), noon)
		few := func(name string) ledger.Time { return ledger.Time(rapid.IntRange(0, 5).Draw(t, name)) }
		r.Seen = noon + few("seen")*minute
		r.Start = ledger.Start{
			At: noon - few("start")*second, Source: rapid.SampledFrom([]ledger.Source{ledger.PodScheduled, ledger.Created}).Draw(t, "source"),
		}
		if rapid.Bool().Draw(t, "runs") {
			r.Runs.At = noon + few("running")*second
		} else {
			r.Runs = ledger.Start{}
		}
		r.Set = &ledger.LabelSet{Namespace: "ml", Labels: ledger.LabelsOf(map[string]string{"team": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "team")})}
		if rapid.Bool().Draw(t, "orphan") {
			r.Owner = nil
		}
		r.Allocation = gpus(int64(few("gpus")))
		r.Allocation.Shares[0].Claim = rapid.SampledFrom([]string{"", "claim-1", "claim-2"}).Draw(t, "claim")
		if whole := int64(few("whole")); whole > 0 && r.Allocation.Shares[0].Claim != "" {
			r.Allocation.Shares[0].Whole = big.NewRat(whole, 1)
		}
		r.Allocation.Shown, r.Allocation.Capped = rapid.IntRange(ledger.Unconfirmed, ledger.Confirmed+1).Draw(t, "shown"), rapid.Bool().Draw(t, "capped")
		if rapid.Bool().Draw(t, "held later") {
			r.AllocationSeen = r.Seen + few("borne out")*minute
		}
		r.Place = &ledger.Place{Node: "node-1", Model: rapid.SampledFrom([]string{"", "Tesla-T4", "A100"}).Draw(t, "model")}
		if rapid.Bool().Draw(t, "placed later") {
			r.PlaceSeen = r.Seen + few("placed")*minute
		}
		switch from := noon + few("end")*hour; rapid.IntRange(0, 3).Draw(t, "ended") {
		case 1: // observed again
			r.End = ledger.End{Earliest: from}
		case 2:
			r.End = ledger.ExactEnd(from, rapid.SampledFrom(rivals).Draw(t, "by"))
		case 3:
			r.End = ledger.End{Earliest: from, At: from + few("range")*hour, Source: ledger.Estimated}
		}
		if rapid.Bool().Draw(t, "deleted") {
			r.Deletion = noon + few("deletion")*hour
		}
		return r
	})
}

// anyNode draws an observation of one of a few similar nodes.
func anyNode() *rapid.Generator[ledger.Node] {
	return rapid.Custom(func(t *rapid.T) ledger.Node {
		n := rapid.IntRange(0, 2).Draw(t, "node")
		node := ledger.Node{
			UID: uid(1000 + n), Name: fmt.Sprintf("node-%d", n), Machine: rapid.SampledFrom([]string{"", "qcloud:///800001/ins-a1b2c3d4"}).Draw(t, "machine"),
			Created: noon - ledger.Time(rapid.IntRange(0, 1).Draw(t, "created"))*hour,
			Told:    rapid.IntRange(0, 2).Draw(t, "told"), ToldAt: noon + ledger.Time(rapid.IntRange(0, 2).Draw(t, "told at"))*minute,
			Traits: ledger.LabelsOf(map[string]string{"model": rapid.SampledFrom([]string{"Tesla-T4", "A100"}).Draw(t, "model")}),
		}
		if rapid.Bool().Draw(t, "gone") {
			node.Gone = noon + ledger.Time(rapid.IntRange(0, 2).Draw(t, "gone at"))*day
		}
		capacity := map[string]string{}
		for _, resource := range []string{"nvidia.com/gpu", "gpu.nvidia.com"} {
			if rapid.Bool().Draw(t, "lists "+resource) {
				capacity[resource] = rapid.SampledFrom([]string{"0", "1/7", "8", "16"}).Draw(t, resource)
			}
		}
		node.Capacity = ledger.LabelsOf(capacity)
		return node
	})
}
