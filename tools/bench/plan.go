//go:build unix

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// poolsConfiguration is N pools of one instance each.
const poolsConfiguration = `
terraform {
  required_providers {
    gpupool = { source = "gpupool/gpupool" }
  }
}
provider "gpupool" {}
resource "gpupool_spot_pool" "p" {
  count   = %d
  name    = "pool-${count.index}"
  minimum = 1
  maximum = 2
  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4", max_price = "3.50" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" },
  ]
  vpc_id             = "vpc-a1b2c3d4"
  security_group_ids = ["sg-a1b2c3d4"]
  image_id           = "img-a1b2c3d4"
  key_ids            = ["skey-a1b2c3d4"]
  tags               = { team = "a" }
}
`

// staticConfiguration is as many of the smallest resource of a provider that
// many know.
const staticConfiguration = `
terraform {
  required_providers {
    time = { source = "hashicorp/time" }
  }
}
resource "time_static" "t" {
  count = %d
}
`

const plansEach = 3

// measurePlan measures terraform plan over pools of one instance each.
func measurePlan(ctx context.Context, b *bench) error {
	fmt.Println("| resources | calls of a plan | plan of pools | plan of time_static | ratio |")
	fmt.Println("|---|---|---|---|---|")
	for _, n := range []int{100, 300, 1000} {
		if err := planAt(ctx, b, n); err != nil {
			return err
		}
	}
	return nil
}

func planAt(ctx context.Context, b *bench, n int) error {
	sim, err := b.startCVM(ctx)
	if err != nil {
		return err
	}
	defer sim.Stop()
	for _, zone := range []string{"ap-singapore-2", "ap-singapore-3"} {
		stock := map[string]any{"availability_zone": zone, "instance_type": gpuType, "stock": 100_000, "vcpu_quota": 1_000_000}
		if err := sim.control(ctx, http.MethodPost, "stock", stock, nil); err != nil {
			return err
		}
	}
	pools, err := b.workspace(sim, fmt.Sprintf("pools-%d", n), fmt.Sprintf(poolsConfiguration, n))
	if err != nil {
		return err
	}
	statics, err := b.workspace(sim, fmt.Sprintf("statics-%d", n), fmt.Sprintf(staticConfiguration, n))
	if err != nil {
		return err
	}
	for _, w := range []workspace{pools, statics} {
		for _, args := range [][]string{{"init", "-input=false"}, {"apply", "-auto-approve", "-input=false", "-no-color"}} {
			if _, err := w.terraform(ctx, args...); err != nil {
				return err
			}
		}
	}
	var ours, theirs []time.Duration
	for range plansEach {
		if err := sim.resetCalls(ctx); err != nil {
			return err
		}
		c, err := pools.terraform(ctx, "plan", "-input=false", "-detailed-exitcode")
		if err != nil {
			return err
		}
		ours = append(ours, c.wall)
		if c, err = statics.terraform(ctx, "plan", "-input=false", "-detailed-exitcode"); err != nil {
			return err
		}
		theirs = append(theirs, c.wall)
	}
	calls, err := sim.calls(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("| %d | %d | %s | %s | %.2f |\n", n, total(calls), seconds(median(ours)), seconds(median(theirs)),
		median(ours).Seconds()/median(theirs).Seconds())
	return nil
}

// workspace is a directory with a Terraform configuration.
type workspace struct {
	b   *bench
	dir string
	env []string
}

func (b *bench) workspace(sim *cvm, name, configuration string) (workspace, error) {
	rc, err := b.mirror()
	if err != nil {
		return workspace{}, err
	}
	w := workspace{b: b, dir: filepath.Join(b.dir, name)}
	w.env = slices.Concat(sim.env(), []string{"TF_CLI_CONFIG_FILE=" + rc, "CHECKPOINT_DISABLE=1", "GPUPOOL_STORE=directory:" + filepath.Join(w.dir, "store")})
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return w, err
	}
	return w, os.WriteFile(filepath.Join(w.dir, "main.tf"), []byte(configuration), 0o600)
}

func (w workspace) terraform(ctx context.Context, args ...string) (cost, error) {
	cmd := exec.CommandContext(ctx, w.b.terraform, args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	c, _, err := measure(cmd)
	return c, err
}
