# Two warm runtimes of the flavour g1.1. The image runs as a user other than root,
# without capabilities.
resource "gpupool_stock_pool" "g1" {
  name      = "pool-g1"
  namespace = "default"
  spec_name = "g1.1"
  image     = "nginxinc/nginx-unprivileged:1.27"
  memory    = "4Gi"
  gpu       = 1
  replicas  = 2

  labels = { team = "a" }
  ports  = [{ port = 8080, name = "http" }]
}

# Two that nobody uses, whatever others take: who takes a pod gives it the label
# "session". At most eight in all, counted by a budget of their team.
resource "gpupool_stock_pool" "sessions" {
  name      = "sessions"
  namespace = "default"
  spec_name = "g1.1"
  image     = "nginxinc/nginx-unprivileged:1.27"
  memory    = "4Gi"
  gpu       = 1

  replicas           = 2
  replicas_policy    = "available"
  maximum            = 8
  allocated_selector = "session"

  labels                = { team = "b" }
  node_selector         = { "node.kubernetes.io/instance-type" = "GN7.20XLARGE320" }
  tolerations           = [{ key = "nvidia.com/gpu", operator = "Exists", effect = "NoSchedule" }]
  pod_disruption_budget = { min_available = 1 }
  budget                = gpupool_budget.team_b.name
}

resource "gpupool_budget" "team_b" {
  name        = "team-b"
  gpu_hours   = "100"
  window      = "24h"
  selector    = { namespaces = ["default"], match_labels = { team = "b" } }
  enforcement = { action = "pause", grace_period = "10m" }
}
