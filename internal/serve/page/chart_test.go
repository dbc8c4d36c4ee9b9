package page

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// TestSizesFollowEvents goes back from the size of now over each event.
func TestSizesFollowEvents(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	event := func(kind history.Kind, hours int, ids ...string) history.Event {
		return history.Event{Kind: kind, At: now.Add(-time.Duration(hours) * time.Hour), InstanceIDs: ids}
	}
	newest := []history.Event{
		event(history.Begin, 2, "ins-4"), event(history.Reclaim, 3, "ins-1"), event(history.Price, 4), event(history.Adopt, 10, "ins-2", "ins-3"),
		event(history.Begin, 20, "ins-1"), event(history.Terminate, 30, "ins-0"),
	}
	var p spotpools.Description
	p.Minimum, p.Counts = 3, &spotpool.Counts{Total: 3}
	c := sizes(p, newest, now)
	var got [][2]int
	for n, at := range c.Times {
		got = append(got, [2]int{int((now.Unix() - at) / 3600), int(*c.Series[0].Values[n])})
	}
	if diff := cmp.Diff([][2]int{{20, 1}, {10, 3}, {3, 2}, {2, 3}, {0, 3}}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(c.Marks) != 2 {
		t.Errorf("the marks are %v", c.Marks)
	}
	if none := sizes(p, nil, now); none != nil {
		t.Errorf("without events, there is a chart: %v", none)
	}
}
