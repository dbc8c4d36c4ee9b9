package history_test

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// TestRevertsNameTheWriterFirst, in events of this version and in those of earlier ones.
func TestRevertsNameTheWriterFirst(t *testing.T) {
	t.Parallel()
	const field = "spec.template.spec.containers[0].image"
	for name, reasons := range map[string]reason.Reasons{
		"with codes": {reason.FieldDrifted(field, "a:2", "a:1"), reason.LastWrittenBy(reason.Names{"kubectl-edit", "kubectl (scale)"})},
		"with texts": {
			reason.OtherVersion(field + " was a:2 instead of a:1"), reason.OtherVersion("last written by kubectl-edit, kubectl (scale)"),
		},
	} {
		e := about("train", 0).Workload(history.Revert, history.Identity{Name: "Deployment/a"}, noon)
		e.Reasons = reasons
		if got, want := e.Message(time.Time.String), "kubectl-edit, kubectl (scale): image was a:2 instead of a:1"; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
