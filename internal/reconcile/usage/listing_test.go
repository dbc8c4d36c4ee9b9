package usage

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestOwnersAreWorkloads that a person created: the Deployment of ReplicaSets, and the CronJob of Jobs.
func TestOwnersAreWorkloads(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 7, 15, 12, 0, 20, 0, time.UTC)
	pod := func(kind, name, hash string) Used {
		labels := map[string]string{}
		if hash != "" {
			labels[HashLabel] = hash
		}
		return Used{PodUsage: meter.PodUsage{Consumed: 1}, Record: &ledger.Record{
			Set: &ledger.LabelSet{Namespace: "ml", Labels: ledger.LabelsOf(labels)}, Owner: &ledger.Owner{Kind: kind, Name: name},
			Start: ledger.Start{At: ledger.TimeOf(start)},
		}}
	}
	pods := []Used{
		pod("ReplicaSet", "web-5d4f8", "5d4f8"), pod("ReplicaSet", "web-77abc", "77abc"), pod("ReplicaSet", "own", ""),
		pod("Job", "nightly-29735280", ""), pod("Job", "nightly-29733840", ""), // of 2026-07-15 12:00 and a day before
		pod("Job", "train-20260715", ""),
	}
	_, listed := Listing{By: ByOwner}.List(pods)
	var names []string
	for _, g := range listed.Groups {
		names = append(names, g.Name)
	}
	slices.Sort(names)
	want := []string{"ml/CronJob/nightly", "ml/Deployment/web", "ml/Job/train-20260715", "ml/ReplicaSet/own"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
}
