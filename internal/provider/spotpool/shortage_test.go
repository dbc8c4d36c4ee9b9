package spotpool_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// TestPoolsShortForOneCauseAreWarnedOfOnce: Terraform shows one of the warnings with a headline, and counts the others.
func TestPoolsShortForOneCauseAreWarnedOfOnce(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	if err := soldOut(zone2, zone3)(w.Sim.Server); err != nil {
		t.Fatal(err)
	}
	d := w.Terraform()
	var pools string
	for _, name := range []string{"red", "green", "blue"} {
		pools += poolNamed(name, attributes{"name": `"` + name + `"`, "timeouts": `{ create = "2s" }`})
	}
	d.Write(pools)
	for _, c := range []struct {
		command []string
		has     string
	}{
		{[]string{"plan", "-no-color"}, "are short on the market at plan time: sold out "},
		{[]string{"apply", "-auto-approve", "-no-color"}, "are short after the apply: sold out "},
		{[]string{"plan", "-no-color"}, "are short in this plan: sold out "},
	} {
		printed := strings.Join(strings.Fields(strings.ReplaceAll(d.Must("terraform", c.command...).Stdout, "│", "")), " ")
		headline := "Warning: Spot pools of ap-singapore "
		if strings.Contains(c.has, "market") {
			headline = "Warning: New spot pools of ap-singapore "
		}
		if n := strings.Count(printed, c.has); n != 1 || !strings.Contains(printed, headline+c.has) ||
			!strings.Contains(printed, "(and 2 more similar warnings elsewhere)") {
			t.Errorf("%v prints %d warnings of a shortage:\n%s", c.command, n, printed)
		}
	}
}
