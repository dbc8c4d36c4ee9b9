package ledger_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestLargeShardsAreSplit keeps each document within the size limit of a store, and loses nothing
// between any two writes.
func TestLargeShardsAreSplit(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(1, 2))
	big := func(n int) ledger.Record {
		labels := map[string]string{}
		for k := range 40 {
			labels[fmt.Sprintf("k%d", k)] = fmt.Sprintf("%016x%016x%016x", chance.Uint64(), chance.Uint64(), chance.Uint64())
		}
		r := ended(pod(n, noon), noon+hour, ledger.ContainerFinished)
		r.Set = &ledger.LabelSet{Namespace: "ml", Labels: ledger.LabelsOf(labels)}
		return r
	}
	d := disk{}
	l := ledger.New(cluster)
	l.Header.LastRun = noon + hour
	for n := range 700 {
		observe(t, l, big(n))
	}
	d.save(t, l, allSteps)
	if diff := cmp.Diff([]string{"closed-2026-11-20-13.parquet", "header"}, documents(d)); diff != "" {
		t.Fatalf("documents (-want +got):\n%s", diff)
	}
	grown := d.load(t, noon)
	for n := range 1200 {
		observe(t, grown, big(1000+n))
	}
	changes, err := grown.Changes()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"closed-2026-11-20-13_1of4.parquet", "closed-2026-11-20-13_2of4.parquet", "closed-2026-11-20-13_3of4.parquet", "closed-2026-11-20-13_4of4.parquet",
		"header",
	}, names(changes)); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
	for _, document := range changes.Write {
		if len(document.Data) > 900<<10 {
			t.Errorf("%s is %d bytes", document.Name, len(document.Data))
		}
	}
	for steps := range len(changes.Write) + len(changes.Delete) + 1 {
		cut := maps.Clone(d)
		cut.apply(changes, steps)
		if got := cut.load(t, noon).Len(); got < 700 {
			t.Errorf("%d records are left after %d steps", got, steps)
		}
	}
	d.apply(changes, allSteps)
	if got := d.load(t, noon).Len(); got != 1900 {
		t.Errorf("%d records, want 1900", got)
	}
}

// TestLabelsBeyondMeasureAreCut counts a pod with a megabyte of labels.
func TestLabelsBeyondMeasureAreCut(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"app": "a"}
	for n := range 20_000 {
		labels[fmt.Sprintf("x%05d", n)] = strings.Repeat("v", 60)
	}
	r := pod(1, noon)
	r.Set = &ledger.LabelSet{Namespace: "ml", Labels: ledger.LabelsOf(labels)}
	l := of(t, r)
	d := disk{}
	d.save(t, l, allSteps)
	loaded := d.load(t, noon)
	same(t, "loaded", loaded, l)
	if got, _ := loaded.Get(r.UID); got.Set.Labels.Get("app") != "a" || len(got.Set.Labels) > 1100 {
		t.Errorf("%d labels are kept", len(got.Set.Labels))
	}
}
