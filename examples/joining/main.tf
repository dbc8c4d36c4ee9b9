# A pool whose instances join a cluster of kubeadm, each launch by a token of its own.

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
  kubernetes = { config_path = "~/.kube/config", config_context = "gpu" }
  store      = { kubernetes_namespace = "gpupool-system" }
}

resource "gpupool_spot_pool" "train" {
  name    = "train"
  minimum = 2
  maximum = 4

  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" },
  ]

  vpc_id        = "vpc-a1b2c3d4"
  image_id      = "img-a1b2c3d4"                    # has the GPU driver, the kubelet and kubeadm
  user_data_raw = file("${path.module}/kubeadm.sh") # has {{GPUPOOL_BOOTSTRAP_TOKEN}}; for k3s, k3s.sh

  nodes = {
    expected_labels = { pool = "train" } # what the script gives its nodes
  }

  bootstrap_token = {
    groups = ["system:bootstrappers:kubeadm:default-node-token"] # of k3s: system:bootstrappers:k3s:default-node-token
    ttl    = "30m"                                               # from the launch on
  }
}
