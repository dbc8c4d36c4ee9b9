# A pool whose instances join a kubeadm cluster, each launch with its own token. For k3s,
# use k3s.sh and the group system:bootstrappers:k3s:default-node-token.

terraform {
  required_version = ">= 1.11"
  required_providers {
    gpupool = {
      source = "gpupool/gpupool"
    }
  }
}

provider "gpupool" {
  region     = "ap-singapore"
  kubernetes = { config_path = "~/.kube/config" }
  store      = { kubernetes_namespace = "gpupool-system" }
}

resource "gpupool_spot_pool" "batch" {
  name    = "batch"
  minimum = 2
  maximum = 4

  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" },
  ]

  vpc_id        = "vpc-a1b2c3d4"
  image_id      = "img-a1b2c3d4" # with the GPU driver and kubeadm
  user_data_raw = file("${path.module}/kubeadm.sh")

  nodes = {
    expected_labels = { pool = "batch" }
  }

  bootstrap_token = {
    groups = ["system:bootstrappers:kubeadm:default-node-token"]
    ttl    = "30m"
  }
}
