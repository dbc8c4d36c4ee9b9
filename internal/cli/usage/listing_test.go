package usage

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
)

// onePodUsed is a pod that used so many GPU-hours since so many hours ago; it holds
// its GPU still where it is active.
func onePodUsed(namespace, name, team string, hours, since int64, active bool) usage.Used {
	set := &ledger.LabelSet{Namespace: namespace}
	if team != "" {
		set.Labels = ledger.LabelsOf(map[string]string{"example.com/team": team})
	}
	r := &ledger.Record{UID: "uid-" + name, Name: name, Set: set, Allocation: &ledger.Allocation{Shown: 1}}
	u := usage.Used{Record: r, PodUsage: meter.PodUsage{
		GPUs: big.NewRat(1, 1), Start: clitest.At.Add(-time.Duration(since) * time.Hour), End: clitest.At.Add(-time.Minute), Active: active,
		Consumed: hours * budget.Hour,
	}}
	if !active {
		r.End = ledger.ExactEnd(ledger.Time(u.End.UnixMilli()), ledger.ContainerFinished)
	}
	return u
}

func somePods() []usage.Used {
	return []usage.Used{
		onePodUsed("ml-research-of-the-large-models", "train-the-large-one-of-them-7d4b9c6f58-x2x9q", "research", 40, 50, true),
		onePodUsed("ml", "notebook", "research", 10, 10, true),
		onePodUsed("web", "serve-0", "", 5, 2000, false),
		onePodUsed("ml", "batch-1", "batch", 25, 26, false),
		onePodUsed("ml", "batch-2", "batch", 20, 21, true),
	}
}

// TestLists has a golden file of each way to list the same pods.
func TestLists(t *testing.T) {
	t.Parallel()
	narrow := terminal.Style{Width: 80, Height: 24}
	tokyo := terminal.Clock{Now: clitest.At, Zone: time.FixedZone("JST", 9*3600)}
	for name, tt := range map[string]struct {
		listing usage.Listing
		style   terminal.Style
		clock   terminal.Clock
	}{
		"list_top.txt":        {usage.Listing{By: usage.ByPod, Top: 2, Sort: usage.SortHours}, clitest.Plain, terminal.Clock{Now: clitest.At, Zone: time.UTC}},
		"list_start.txt":      {usage.Listing{By: usage.ByPod, Sort: usage.SortStart}, clitest.Plain, tokyo},
		"list_narrow.txt":     {usage.Listing{By: usage.ByPod}, narrow, terminal.Clock{Now: clitest.At, Zone: time.UTC}},
		"list_namespaces.txt": {usage.Listing{By: usage.ByNamespace, Sort: usage.SortHours}, narrow, tokyo},
		"list_teams.txt": {
			usage.Listing{By: "label:example.com/team", Label: "example.com/team", Sort: usage.SortName}, clitest.Plain,
			terminal.Clock{Now: clitest.At, Zone: time.UTC},
		},
		"list_top_team.txt": {
			usage.Listing{By: "label:example.com/team", Label: "example.com/team", Sort: usage.SortHours, Top: 1}, clitest.Plain,
			terminal.Clock{Now: clitest.At, Zone: time.UTC},
		},
		"list_colored_top.txt": {
			usage.Listing{By: usage.ByPod, Top: 1, Sort: usage.SortName}, clitest.Colored, terminal.Clock{Now: clitest.At, Zone: time.UTC},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Report{ConsumedGPUHours: "100.000", ConsumedMilliGPUSeconds: 100 * budget.Hour, TrackedPods: 5}
			r.Pods, r.Listed = tt.listing.List(somePods())
			text := podsText(tt.style, r, question{at: clitest.At, declared: budget.Declaration{Period: budget.Month}, listing: tt.listing, clock: tt.clock})
			clitest.Golden(t, name, text)
			if tt.style.Width == 80 && (strings.Contains(text, "…") || strings.Contains(text, "STATE")) {
				t.Errorf("a name is cut, or a column is left that can go:\n%s", text)
			}
		})
	}
}

// TestListsLoseNothing: whatever is listed and left out is all there is, in the
// order that is asked for.
func TestListsLoseNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var pods []usage.Used
		total := int64(0)
		for n := range rapid.IntRange(0, 12).Draw(t, "pods") {
			hours := rapid.Int64Range(0, 9).Draw(t, "hours")
			total += hours
			pods = append(pods, onePodUsed(
				rapid.SampledFrom([]string{"a", "a-b", "b"}).Draw(t, "namespace"), fmt.Sprint(n), rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "team"),
				hours, rapid.Int64Range(1, 99).Draw(t, "since"), rapid.Bool().Draw(t, "active"),
			))
		}
		l := usage.Listing{
			By: rapid.SampledFrom([]string{usage.ByPod, usage.ByNamespace, "label:example.com/team"}).Draw(t, "by"), Top: rapid.IntRange(0, 5).Draw(t, "top"),
			Sort: rapid.SampledFrom([]string{usage.SortHours, usage.SortName, usage.SortStart}).Draw(t, "sort"),
		}
		_, l.Label, _ = strings.Cut(l.By, ":")
		list, listed := l.List(slices.Clone(pods))
		var hours []string
		for _, p := range list {
			hours = append(hours, p.GPUHours)
		}
		for _, g := range listed.Groups {
			hours = append(hours, g.GPUHours)
		}
		if l.Top > 0 && len(hours) > l.Top || l.Grouped() != (listed.By != "") || l.Grouped() && len(list) > 0 {
			t.Fatalf("%+v lists %v and %+v", l, list, listed)
		}
		if listed.LeftOut != nil {
			hours = append(hours, listed.LeftOut.GPUHours)
		}
		sum := int64(0)
		var amounts []int64
		for _, text := range hours {
			amount, err := budget.ParseHours(text)
			if err != nil && text != "0.000" {
				t.Fatal(err)
			}
			sum += amount
			amounts = append(amounts, amount)
		}
		if sum != total*budget.Hour {
			t.Fatalf("%v are %d, want %d hours", hours, sum, total)
		}
		sorted := slices.IsSortedFunc(list, func(a, b usage.Pod) int {
			if l.Sort == usage.SortStart {
				return a.Start.Compare(b.Start)
			}
			return 0
		})
		if l.Sort == usage.SortHours && listed.LeftOut == nil {
			sorted = sorted && slices.IsSortedFunc(amounts, func(a, b int64) int { return cmp.Compare(b, a) })
		}
		if !sorted {
			t.Fatalf("%+v lists %v and %+v", l, list, listed)
		}
		rows, err := csv.NewReader(strings.NewReader(csvText(list, listed))).ReadAll()
		if err != nil || len(rows) != 1+len(list)+len(listed.Groups) {
			t.Fatalf("%v of %d and %d: %v", rows, len(list), len(listed.Groups), err)
		}
	})
}
