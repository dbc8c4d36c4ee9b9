# A pool whose instances become nodes of the cluster that the provider reaches.

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

resource "gpupool_spot_pool" "train" {
  name    = "train"
  minimum = 2
  maximum = 4 # room for replacements

  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" },
  ]

  vpc_id        = "vpc-a1b2c3d4"
  image_id      = "img-a1b2c3d4" # with the GPU driver and kubeadm
  user_data_raw = file("${path.module}/join.sh")

  nodes = {
    expected_labels = { pool = "train" } # the labels that join.sh sets
  }
}
