# GPU instances that become Kubernetes nodes, and a warm stock of pods on them. Both respect
# a budget of GPU-hours. Apply the output of cluster.sh first.
#
#   ./cluster.sh | kubectl apply -f -
#   kubectl create namespace ml
#   terraform apply
#
# `make demo` applies it to a local Kubernetes and a local CVM. Every ID is made up.

terraform {
  required_version = ">= 1.11"
  required_providers {
    gpupool = {
      source = "gpupool/gpupool"
    }
  }
}

# Credentials and the cluster come from the environment, such as TENCENTCLOUD_SECRET_ID
# and KUBE_CONFIG_PATH.
provider "gpupool" {
  region = "ap-singapore"
  store  = { kubernetes_namespace = "gpupool-system" }
}

variable "namespace" {
  description = "Namespace of the team's pods. It must exist."
  type        = string
  default     = "ml"
}

variable "machines" {
  description = "How many instances the pool keeps."
  type        = number
  default     = 2
}

variable "gpu_hours" {
  description = "How many GPU-hours the team has in any 24 hours."
  type        = string
  default     = "40"
}

variable "grace_period" {
  description = "How long pods keep running after the budget is used up."
  type        = string
  default     = "10m"
}

resource "gpupool_budget" "ml" {
  name      = "ml"
  gpu_hours = var.gpu_hours
  window    = "24h"
  selector  = { namespaces = [var.namespace] }

  # After the grace period, workloads are scaled to zero.
  enforcement = { action = "pause", grace_period = var.grace_period }
}

resource "gpupool_spot_pool" "train" {
  name    = "train"
  minimum = var.machines
  maximum = var.machines == 1 ? 1 : var.machines + 1 # room for a replacement

  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" },
  ]

  vpc_id             = "vpc-a1b2c3d4"
  security_group_ids = ["sg-a1b2c3d4"]
  image_id           = "img-a1b2c3d4" # has the GPU driver and kubeadm
  user_data_raw      = file("${path.module}/join.sh")

  # Each launch gets its own token, which is deleted once its instances have joined.
  bootstrap_token = { groups = ["system:bootstrappers:kubeadm:default-node-token"] }

  budget = gpupool_budget.ml.name

  nodes = {
    expected_labels = { pool = "train" } # set by join.sh
    drain           = { timeout = "5m" }
  }
}

resource "gpupool_stock_pool" "runtime" {
  name      = "runtime"
  namespace = var.namespace
  spec_name = "g1.1"
  image     = "nginxinc/nginx-unprivileged:1.27"
  memory    = "4Gi"
  gpu       = 1
  replicas  = 2

  node_selector = { pool = "train" }
  budget        = gpupool_budget.ml.name
}
