terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  kubernetes = { config_path = "~/.kube/config" }
}

# A pool that launches only within a budget. If the budget stays exceeded for 30 minutes,
# all nodes are drained, and their instances terminate. They return by themselves.
resource "gpupool_spot_pool" "train" {
  name    = "train"
  region  = "ap-singapore"
  minimum = 2
  maximum = 4

  budget              = gpupool_budget.ml.name
  on_budget_exceeded  = "drain" # the default, keep, only stops launches
  budget_grace_period = "30m"
  nodes               = {}

  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" },
  ]

  vpc_id        = "vpc-a1b2c3d4"
  image_id      = "img-a1b2c3d4"
  user_data_raw = "#!/bin/sh\nexec /opt/node/join\n"
}

resource "gpupool_budget" "ml" {
  name      = "ml"
  gpu_hours = 100
  window    = "24h"
  selector  = { namespaces = ["ml"] }
}
