package stockpool

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// TestAPlanTellsWhatItEnds, if pods are in use.
func TestAPlanTellsWhatItEnds(t *testing.T) {
	t.Parallel()
	available := func(replicas, maximum int) func(*core.Declaration) {
		return func(d *core.Declaration) {
			d.ReplicasPolicy, d.Replicas, d.Maximum = core.ReplicasAvailable, replicas, maximum
		}
	}
	total := func(replicas int) func(*core.Declaration) {
		return func(d *core.Declaration) { d.Replicas = replicas }
	}
	now := decide.Status{Replicas: 6, Allocated: 4, Available: 2, Fewest: 4}
	ill := decide.Status{Replicas: 6, Allocated: 4, Available: 2, Fewest: 6}
	for name, c := range map[string]struct {
		was, is func(*core.Declaration)
		status  decide.Status
		says    string // nothing where it ends none in use
	}{
		"more":                          {total(6), total(7), now, ""},
		"fewer, and enough":             {total(6), total(4), now, ""},
		"fewer":                         {total(6), total(3), now, "4 are in use, and 3 stay."},
		"a lower maximum, and enough":   {available(2, 8), available(2, 4), now, ""},
		"a lower maximum":               {available(2, 8), available(2, 3), now, "4 are in use, and 3 stay."},
		"fewer available":               {available(2, 8), available(0, 8), now, ""},
		"another keep":                  {total(6), available(1, 2), now, "4 are in use, and 2 stay."},
		"fewer, and one is not ready":   {total(6), total(5), ill, "at least 6 must stay"},
		"fewer available, and so is it": {available(2, 8), available(1, 8), ill, "4 are in use, and 5 stay."},
		"another image": {
			total(6), func(d *core.Declaration) { d.Image, d.Replicas = "another", 6 }, now,
			"all its pods are replaced, a few at a time. 4 of 6 pods are in use.",
		},
		"another image, and no pods": {total(0), func(d *core.Declaration) { d.Image = "another" }, decide.Status{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			was, d := core.Declaration{Image: "runtime:1"}.WithDefaults(), core.Declaration{Image: "runtime:1"}.WithDefaults()
			c.was(&was)
			c.is(&d)
			why := endsUse(was, d, c.status, drift.Replacement(nil))
			says := problem.Warning(path.Empty(), why).Detail()
			if why.IsZero() != (c.says == "") || !strings.Contains(says, c.says) {
				t.Errorf("it warns %q, want %q", says, c.says)
			}
		})
	}
}
