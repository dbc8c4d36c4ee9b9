terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  kubernetes = { config_path = "~/.kube/config" }
}

# Instances that join a kubeadm cluster. Each launch gets its own bootstrap token, which
# is deleted once its instances have joined.
resource "gpupool_spot_pool" "train" {
  name    = "train"
  region  = "ap-singapore"
  minimum = 2
  maximum = 4

  nodes = {}
  bootstrap_token = {
    groups = ["system:bootstrappers:kubeadm:default-node-token"]
    ttl    = "30m"
  }

  user_data_raw = <<-EOT
    #!/bin/sh
    set -eu
    metadata=http://metadata.tencentyun.com/latest/meta-data
    id=qcloud:///$(curl -sf $metadata/placement/zone)/$(curl -sf $metadata/instance-id)
    echo "KUBELET_EXTRA_ARGS=--provider-id=$id" >/etc/default/kubelet
    kubeadm join 10.0.0.10:6443 --token '{{GPUPOOL_BOOTSTRAP_TOKEN}}' \
      --discovery-token-ca-cert-hash sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
  EOT

  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" },
  ]

  vpc_id   = "vpc-a1b2c3d4"
  image_id = "img-a1b2c3d4" # has the GPU driver, the kubelet and kubeadm
}
