terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  kubernetes = { config_path = "~/.kube/config" }
}

# Pods on the nodes of a spot pool. A drain leaves one of them running.
resource "gpupool_stock_pool" "g1" {
  name      = "pool-g1"
  namespace = "default"
  spec_name = "g1.1"
  image     = "nginxinc/nginx-unprivileged:1.27"
  memory    = "4Gi"
  cpu       = "2"
  gpu       = 1
  replicas  = 2

  node_selector         = { pool = "train" } # expected_labels of the spot pool
  tolerations           = [{ key = "nvidia.com/gpu", operator = "Exists", effect = "NoSchedule" }]
  pod_disruption_budget = { min_available = 1 }
}
