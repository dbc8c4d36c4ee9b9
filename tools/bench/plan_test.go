//go:build unix

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/tools/local"
)

// poolsConfiguration is N pools of one instance each, and staticConfiguration as many of
// the smallest resource of a provider that many know.
const (
	poolsConfiguration = `
terraform {
  required_providers {
    gpupool = { source = "gpupool/gpupool" }
  }
}
resource "gpupool_spot_pool" "p" {
  count   = %d
  name    = "pool-${count.index}"
  minimum = 1
  maximum = 2
  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4", spot_max_price = "3.50" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" },
  ]
  vpc_id             = "vpc-a1b2c3d4"
  security_group_ids = ["sg-a1b2c3d4"]
  image_id           = "img-a1b2c3d4"
  key_ids            = ["skey-a1b2c3d4"]
  tags               = { team = "a" }
}
`
	staticConfiguration = `resource "time_static" "t" { count = %d }`
)

// BenchmarkPlan compares terraform plan over pools of one instance each with one over as many
// time_static.
func BenchmarkPlan(b *testing.B) {
	rc, err := local.Mirror(b.TempDir(), local.Provider{Source: "gpupool/gpupool", Version: "0.0.1", Binary: program(b, "GPUPOOL_BIN")},
		local.Provider{Source: "hashicorp/time", Version: "0.13.1", Binary: program(b, "TIME_PROVIDER_BIN")})
	check(b, err)
	at(b, "resources", []int{100, 300, 1000}, func(b *testing.B, n int) {
		sim := startCVM(b)
		plan := func(configuration string) func() figures {
			terraform := applied(b, sim, rc, fmt.Sprintf(configuration, n))
			return func() figures {
				sim.Server.ResetCalls()
				took := terraform("plan", "-input=false", "-detailed-exitcode")
				took["calls"] = float64(len(sim.Server.Calls()))
				return took
			}
		}
		compare(b, run{"time_static", plan(staticConfiguration)}, run{"pools", plan(poolsConfiguration)})
	})
}

// applied returns terraform in a directory of its own, whose configuration is applied.
func applied(b *testing.B, sim *cvmsimtest.Sim, rc, configuration string) func(args ...string) figures {
	b.Helper()
	dir := b.TempDir()
	env := slices.Concat(against(sim), []string{"TF_CLI_CONFIG_FILE=" + rc, "CHECKPOINT_DISABLE=1", "GPUPOOL_STORE=directory:" + filepath.Join(dir, "store")})
	check(b, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(configuration), 0o600))
	terraform := func(args ...string) figures {
		cmd := exec.CommandContext(b.Context(), program(b, "TERRAFORM"), args...)
		cmd.Dir, cmd.Env = dir, env
		took, _ := must(b, cmd)
		return took
	}
	terraform("init", "-input=false")
	terraform("apply", "-auto-approve", "-input=false", "-no-color")
	return terraform
}
