package spotpool_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// Terraform prints diagnostics as they are: control characters in a state are shown and not
// obeyed.
func TestNamesInDiagnosticsSteerNoTerminal(t *testing.T) {
	t.Parallel()
	const evil = "train\x1b]0;owned\x07\x1b[2J\u009b2J"
	w := providertest.New(t)
	s := serve(t, w).Shown()
	o := create(t, s, train(nil))
	sober := func(what string, diags providertest.Diagnostics) {
		t.Helper()
		if text := diags.String(); len(diags) == 0 || strings.ContainsAny(text, "\x1b\x07\u009b") {
			t.Errorf("%s: %q", what, text)
		}
	}
	for _, attribute := range []string{"name", "region", "uid", "account_id"} {
		fresh, _ := s.Read(o) // With changes what it is given
		changed := fresh.With(attribute, evil)
		_, read := s.Read(&changed)
		_, ended := s.Apply(s.Plan(&changed, nil))
		sober(attribute, append(read, ended...))
	}
	if all := s.Validate(train(providertest.Values{"name": evil, "budget": evil, "image_id": evil})); len(all) != 3 {
		t.Errorf("%d diagnostics", len(all))
	} else {
		sober("a configuration", all)
	}
	s.Destroy(o)
}
