//go:build unix

package stage

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/tools/local"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// Binaries are real programs: the built gpupool and a real Terraform, in a folder with a
// configuration and a store in a directory.
type Binaries struct {
	GPUPool, Terraform string // their paths

	dir string // of everything
	rc  string // Terraform's CLI configuration
}

// In has the binaries work in a folder.
func (b Binaries) In(dir string) (*Binaries, error) {
	b.dir = dir
	rc, err := local.Override(dir, b.GPUPool)
	if err != nil {
		return nil, err
	}
	b.rc = rc
	return &b, os.MkdirAll(b.work(), 0o755)
}

func (b *Binaries) work() string      { return filepath.Join(b.dir, "work") }
func (b *Binaries) storePath() string { return filepath.Join(b.dir, "store") }

// Store opens the store, which the first program makes.
func (b *Binaries) Store() (store.Store, error) {
	return directory.Open(b.storePath(), directory.Options{})
}

// LoseStore removes the store.
func (b *Binaries) LoseStore() error { return os.RemoveAll(b.storePath()) }

// State is the uid of the pool in Terraform's state; empty if that has none.
func (b *Binaries) State() (uid string) {
	var state struct {
		Resources []struct {
			Instances []struct {
				Attributes struct {
					UID string `json:"uid"`
				} `json:"attributes"`
			} `json:"instances"`
		} `json:"resources"`
	}
	text, err := os.ReadFile(filepath.Join(b.work(), "terraform.tfstate"))
	if err != nil || json.Unmarshal(text, &state) != nil {
		return ""
	}
	for _, r := range state.Resources {
		for _, i := range r.Instances {
			uid = i.Attributes.UID
		}
	}
	return uid
}

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
  user_data_raw          = "#!/bin/sh\necho ready\n"
  cooldown           = "1m"
  launch_timeout     = %q
  refresh            = { strategy = %q, max_surge = %d, max_unavailable = %d }
  timeouts           = { create = %q, update = %q, delete = %q }
}
`

const address = "gpupool_spot_pool.train"

func (b *Binaries) configure(t schedule.Terms) error {
	text := fmt.Sprintf(configuration, Pool.Name, t.Minimum, t.Maximum, t.ImageID(), Pool.LaunchTimeout, t.Strategy, t.Surge, t.Unavailable,
		ApplyTimeout, ApplyTimeout, DestroyTimeout)
	return os.WriteFile(filepath.Join(b.work(), "main.tf"), []byte(text), 0o600)
}

func (b *Binaries) environment(endpoint string) []string {
	return []string{
		"HOME=" + b.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"TF_CLI_CONFIG_FILE=" + b.rc, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1",
		"GPUPOOL_STORE=directory:" + b.storePath(), "GPUPOOL_ENDPOINT=" + endpoint,
		"TENCENTCLOUD_SECRET_ID=" + cvmsim.DemoSecretID, "TENCENTCLOUD_SECRET_KEY=" + cvmsim.DemoSecretKey, "TENCENTCLOUD_REGION=" + Region,
	}
}
