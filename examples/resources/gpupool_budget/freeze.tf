terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  kubernetes = { config_path = "~/.kube/config" }
}

# 30 minutes after the limit is reached, no new GPU pod of the team starts. Running pods
# keep running.
resource "gpupool_budget" "team_a" {
  name      = "team-a"
  gpu_hours = 100
  window    = "24h"
  selector  = { namespaces = ["ml"], match_labels = { team = "a" } }

  enforcement = {
    action       = "freeze"
    grace_period = "30m"
  }
}
