package launches_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

func TestTokensOfLaunchesAreValues(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	old := launches.JoinToken{ID: "a", Sequence: 1, ExpiresAt: noon}
	one := launches.Tokens{}.With(old)
	two := one.With(launches.JoinToken{ID: "b", Sequence: 2, ExpiresAt: noon.Add(time.Hour)})
	known := two.For(2, []string{"ins-1"})
	if b, ok := two.Of("b"); !ok || len(b.Instances) > 0 {
		t.Errorf("the list before changed: %+v", two)
	}
	if b, ok := known.Of("b"); !ok || !slices.Equal(b.Instances, []string{"ins-1"}) {
		t.Errorf("the instances of b are not known: %+v", known)
	}
	if again := two.With(launches.JoinToken{ID: "a", Sequence: 1, ExpiresAt: noon.Add(time.Hour)}); len(again) != 2 {
		t.Errorf("a is there twice: %+v", again)
	}
	if left := known.Unexpired(noon); len(left) != 1 || left[0].ID != "b" {
		t.Errorf("of %+v, %+v are valid", known, left)
	}
	if _, ok := known.Without("a").Of("a"); ok || one.Without("a") != nil {
		t.Error("a is there still")
	}
	lasting := launches.JoinToken{ExpiresAt: noon.Add(31 * time.Minute)}
	if ttl := spotpool.Duration(time.Hour); !lasting.Fresh(noon, ttl) || lasting.Fresh(noon.Add(time.Minute), ttl) {
		t.Error("a token lasts on while it is valid for more than half of its time")
	}
}
