terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  kubernetes = { config_path = "~/.kube/config" }
}

# No new GPU pods start, and running ones are evicted, the newest first, at most five
# in a run. Disruption budgets and protected pods are respected.
resource "gpupool_budget" "team_a" {
  name      = "team-a"
  gpu_hours = 100
  window    = "24h"
  selector  = { namespaces = ["ml"], match_labels = { team = "a" } }

  enforcement = {
    action                   = "evict"
    grace_period             = "10m"
    eviction_order           = "newest_start"
    max_evictions_per_run    = 5
    max_grace_period         = "5m"
    protected_priority_class = "production"
    protected_namespaces     = ["serving"]
  }
}
