package main

import (
	"slices"
	"strings"
	"testing"
)

func TestRulesOfSuites(t *testing.T) {
	t.Parallel()
	const module = "github.com/gpupool/terraform-provider-gpupool/"
	for suite, want := range map[string]struct{ in, out string }{
		"quick": {
			in:  "internal/ledger internal/spotpool/decide internal/serve internal/reconcile/spotpools internal/provider/attribute",
			out: "internal/cli internal/store/directory internal/kube/cluster internal/provider/budget internal/provider/spotpool tools/demo tools/suites",
		},
		"race": {
			in:  "internal/tencent internal/reconcile/loop internal/serve/access internal/kube/cluster",
			out: "internal/budget internal/spotpool/decide internal/weight internal/reconcile/conservation tools/demo",
		},
		"soak": {
			in:  "internal/ledger internal/reconcile/conservation internal/reconcile/spotpools internal/provider/spotpool",
			out: "internal/weight internal/cli internal/tencent",
		},
	} {
		t.Run(suite, func(t *testing.T) {
			t.Parallel()
			var printed strings.Builder
			if err := run([]string{suite, "../../..."}, &printed); err != nil {
				t.Fatal(err)
			}
			listed := strings.Fields(printed.String())
			for _, name := range strings.Fields(want.in) {
				if !slices.Contains(listed, module+name) {
					t.Errorf("%s is missing", name)
				}
			}
			for _, name := range strings.Fields(want.out) {
				if slices.Contains(listed, module+name) {
					t.Errorf("%s is listed", name)
				}
			}
		})
	}
	if err := run([]string{"slow"}, &strings.Builder{}); err == nil {
		t.Error("an unknown suite is no error")
	}
}
