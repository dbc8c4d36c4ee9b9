terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  kubernetes = { config_path = "~/.kube/config" }
}

# Instances that become Kubernetes nodes. They are drained before they terminate, and
# replaced if they never join or fail.
resource "gpupool_spot_pool" "train" {
  name    = "train"
  region  = "ap-singapore"
  minimum = 2
  maximum = 4 # room for replacements

  nodes = {
    join_timeout      = "15m"
    unhealthy_timeout = "10m"
    expected_labels   = { pool = "train" }
    drain             = { timeout = "10m", on_timeout = "terminate" }
  }

  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" },
  ]

  vpc_id        = "vpc-a1b2c3d4"
  image_id      = "img-a1b2c3d4" # has the GPU driver and the kubelet
  user_data_raw = "#!/bin/sh\nexec /opt/node/join --node-labels=pool=train\n"
}
