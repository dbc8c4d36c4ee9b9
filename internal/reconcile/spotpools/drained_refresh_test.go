package spotpools_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// A node that is empty at once, and whose instance is to be replaced, would else do
// nothing until the next run.
func TestARefreshEndsInTheSameRunWhatItDrained(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(2, 2)
	w.Step(3 * time.Minute) // Ready for long enough
	w.mustUpdate(d, func(d *spotpool.Declaration) {
		d.ImageID, d.Refresh = "img-b2c3d4e5", spotpool.Refresh{Strategy: spotpool.RefreshRolling, MaxUnavailable: 1}
	})
	var images []string
	for _, i := range w.Own() {
		images = append(images, i.ImageID)
	}
	slices.Sort(images)
	if want := []string{"img-a1b2c3d4", "img-b2c3d4e5"}; !slices.Equal(images, want) {
		t.Errorf("after an apply the pool runs %q, want one batch replaced: %q", images, want)
	}
	w.VerifyForeign()
}
