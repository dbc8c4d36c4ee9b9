package cli_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli"
)

func TestIsProvider(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args         []string
		cookie       string
		serve, debug bool
	}{
		"Terraform":                        {nil, "d602bf8f470b", true, false},
		"by hand, without arguments":       {nil, "", false, false},
		"a command":                        {[]string{"status"}, "", false, false},
		"a command, by another provider":   {[]string{"status", "-o", "json"}, "d602bf8f470b", false, false},
		"debugging":                        {[]string{"-debug"}, "", true, true},
		"debugging, as people write flags": {[]string{"--debug"}, "", true, true},
		"a wrong command":                  {[]string{"debug"}, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if serve, debug := cli.IsProvider(tt.args, tt.cookie); serve != tt.serve || debug != tt.debug {
				t.Errorf("serve %t, debug %t", serve, debug)
			}
		})
	}
}

func TestABuildKnowsItsCommit(t *testing.T) {
	t.Parallel()
	b := cli.NewBuild("0.1.0", "0123456789abcdef0123456789abcdef01234567")
	if b.Version != "0.1.0" || b.Commit != "0123456789ab" {
		t.Errorf("%+v", b)
	}
}
