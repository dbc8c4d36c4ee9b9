//go:build unix

package stage

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

const configuration = `terraform {
  required_providers {
    gpupool = { source = "gpupool/gpupool" }
  }
}

provider "gpupool" {}

resource "gpupool_spot_pool" "train" {
  name    = %q
  minimum = %d
  maximum = %d
  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" },
  ]
  vpc_id             = "vpc-a1b2c3d4"
  security_group_ids = ["sg-a1b2c3d4"]
  image_id           = %q
  key_ids            = ["skey-a1b2c3d4"]
  user_data          = "#!/bin/sh\necho ready\n"
  cooldown           = "1m"
  launch_timeout     = %q
  refresh            = { strategy = %q, max_surge = %d, max_unavailable = %d }
  timeouts           = { create = "4s", update = "4s", delete = "15s" }
}
`

// address is the pool's in the configuration.
const address = "gpupool_spot_pool.train"

// configure writes the configuration with these terms.
func (w *World) configure(t schedule.Terms) error {
	text := fmt.Sprintf(configuration, pool.Name, t.Minimum, t.Maximum, image(t), pool.LaunchTimeout, t.Strategy, t.Surge, t.Unavailable)
	return os.WriteFile(filepath.Join(w.work(), "main.tf"), []byte(text), 0o600)
}

func image(t schedule.Terms) string { return fmt.Sprintf("img-%08d", t.Image) }
