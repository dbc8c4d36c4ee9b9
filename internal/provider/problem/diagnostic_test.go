package problem_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// TestDiagnosticsAreSentences: the text of a reason is the headline, and its remedy has sentences. Names and commands stay
// as they are.
func TestDiagnosticsAreSentences(t *testing.T) {
	t.Parallel()
	hold := reason.OnHold("ann", reason.Instant{}, "maintenance", "r/train")
	for name, c := range map[string]struct {
		why             reason.Reason
		summary, detail string
	}{
		"a sentence": {reason.InvalidCurrency("no currency"), "Invalid currency", "No currency."},
		"an argument": {reason.MissingVersion("url_wo"), "Missing version",
			"url_wo needs url_wo_version: begin with 1, and change it with each change of url_wo."},
		"foreign text": {reason.InvalidCurrency("欠费 of the account"), "Invalid currency", "欠费 of the account."},
		"no detail":    {reason.ReadingOffers(), "Reading spot offers", ""},
		"paragraphs": {reason.ObjectPlanned("budget", "a", reason.Paragraphs{reason.NotSold(), reason.SoldOut()}), "Budget a in this plan",
			"Not sold: the zone does not offer it.\n\nSold out: Tencent Cloud has no stock."},
		"a command at last": {reason.ObjectObserved("spot pool", "r/train", reason.Paragraphs{hold}), "Spot pool r/train",
			"On hold by ann until 0001-01-01T00:00:00Z: maintenance. Until then, no instance is launched or terminated. " +
				"To end the hold:\ngpupool release r/train"},
		"an instance": {reason.ObjectApplied("spot pool", "r/train", reason.Paragraphs{reason.Restricted(reason.Names{"ins-1"})}),
			"Spot pool r/train after the apply",
			"ins-1 is running but restricted (expired or isolated): counted in the total but not as capacity. Check the account's balance."},
	} {
		if d := problem.Error(path.Empty(), c.why); d.Summary() != c.summary || d.Detail() != c.detail {
			t.Errorf("%s: got %q and %q, want %q and %q", name, d.Summary(), d.Detail(), c.summary, c.detail)
		}
	}
}
