package node_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

func TestEveryPodIsDeletedBeforeAReclaim(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	at := now.Add(2 * time.Minute)
	pods := []node.Pod{
		{Name: "plain", Controller: "ReplicaSet", Grace: 30},
		{Name: "protected", Controller: "StatefulSet", Protected: true, Grace: 600},
		{Name: "bare", Grace: 0},
		{Name: "evicted", Controller: "Job", Ending: true, EndsAt: at, Grace: 600},
		{Name: "too-slow", Controller: "Job", Ending: true, EndsAt: at.Add(time.Second), Grace: 600},
		{Name: "agent", Controller: "DaemonSet", Grace: 30},
		{Name: "static", Mirror: true, Grace: 30},
		{Name: "over", Controller: "Job", Ended: true, Grace: 30},
	}
	for left, want := range map[time.Duration]map[string]int64{
		2 * time.Minute:  {"plain": 30, "protected": 105, "bare": 1, "too-slow": 105},
		20 * time.Second: {"plain": 5, "protected": 5, "bare": 1, "too-slow": 5},
		15 * time.Second: {"plain": 1, "protected": 1, "bare": 1, "too-slow": 1},
		time.Second:      {"plain": 1, "protected": 1, "bare": 1, "too-slow": 1},
	} {
		list, deleted := node.Deletions(pods, at, at.Add(-left))
		got := map[string]int64{}
		for _, d := range list {
			got[d.Pod.Name] = d.Grace
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s before the reclaim (-want +got):\n%s", left, diff)
		}
		if len(deleted) != 1 || deleted[0].Name != "evicted" {
			t.Errorf("%s before the reclaim, deleted are %+v", left, deleted)
		}
	}
}
