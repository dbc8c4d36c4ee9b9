terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  kubernetes = { config_path = "~/.kube/config" }
}

# Jobs are suspended, and Deployments and StatefulSets are scaled to zero. Their sizes
# come back once usage is below the limit.
resource "gpupool_budget" "team_a" {
  name      = "team-a"
  gpu_hours = 100
  window    = "24h"
  selector  = { namespaces = ["ml"], match_labels = { team = "a" } }

  enforcement = {
    action           = "pause"
    grace_period     = "10m"
    on_manual_resume = "pause" # the default, warn, leaves it running
    on_ineffective   = "evict" # pods that still run 10 minutes later
  }
}
