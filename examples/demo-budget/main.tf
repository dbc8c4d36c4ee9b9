# A budget of GPU-hours, and a spot pool that launches only while the budget is not
# exceeded. `make demo` applies it to a local Kubernetes and a local CVM. Every ID is made
# up.

terraform {
  required_providers {
    gpupool = {
      source = "gpupool/gpupool"
    }
  }
}

# The cluster, the store, the region and the credentials come from the environment.
provider "gpupool" {}

variable "gpu_hours" {
  description = "The limit. Eight GPUs use up this small one in half a minute."
  type        = string
  default     = "0.065"
}

resource "gpupool_budget" "team_a" {
  name      = "team-a"
  gpu_hours = var.gpu_hours
  window    = "24h"

  selector = {
    namespaces   = ["gpupool-demo"]
    match_labels = { team = "a" }
  }

  thresholds = [50, 80, 100]

  enforcement = {
    action       = "evict"
    grace_period = "1s" # for a demo only; the default is ten minutes
  }
}

resource "gpupool_spot_pool" "serve" {
  name    = "serve"
  minimum = 2
  maximum = 2
  budget  = gpupool_budget.team_a.name

  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" },
  ]

  vpc_id             = "vpc-a1b2c3d4"
  security_group_ids = ["sg-a1b2c3d4"]
  image_id           = "img-a1b2c3d4"
  key_ids            = ["skey-a1b2c3d4"]
}
