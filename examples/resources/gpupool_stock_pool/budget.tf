terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  kubernetes = { config_path = "~/.kube/config" }
}

# Warm pods of a team with a budget. If the budget is exceeded, the pool scales to zero.
resource "gpupool_stock_pool" "team_b" {
  name      = "team-b"
  namespace = "default"
  spec_name = "g1.1"
  image     = "nginxinc/nginx-unprivileged:1.27"
  memory    = "4Gi"
  gpu       = 1
  replicas  = 2
  labels    = { team = "b" }
  budget    = gpupool_budget.team_b.name
}

resource "gpupool_budget" "team_b" {
  name        = "team-b"
  gpu_hours   = 100
  window      = "24h"
  selector    = { namespaces = ["default"], match_labels = { team = "b" } }
  enforcement = { action = "pause", grace_period = "10m" }
}
