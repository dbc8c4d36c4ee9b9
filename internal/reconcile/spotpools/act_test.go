package spotpools

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func TestEachKindOfDecisionIsCarriedOut(t *testing.T) {
	t.Parallel()
	steps := (&actor{}).steps()
	for _, data := range spotpool.Kinds() {
		if steps[data.Kind] == nil {
			t.Errorf("steps has nothing for %s", data.Kind)
		}
	}
	if err := (&actor{}).do(t.Context(), spotpool.Decision{Kind: "polish"}); err == nil {
		t.Error("an unknown kind gives no error")
	}
}
