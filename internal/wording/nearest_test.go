package wording_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

func TestTheNearestNameIsOneThatWasProbablyMeant(t *testing.T) {
	t.Parallel()
	names := []string{"team-b", "team-a", "research", "ml"}
	for name, want := range map[string]string{"team-x": "team-a", "team-bb": "team-b", "reserch": "research", "nl": "ml", "prod": "", "": "", "x": ""} {
		if got := wording.Nearest(name, names); got != want {
			t.Errorf("the nearest to %q is %q, want %q", name, got, want)
		}
	}
}
