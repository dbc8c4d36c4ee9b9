terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  kubernetes = { config_path = "~/.kube/config" }
}

# 100 GPU-hours in any 24 hours, for the pods of team a. By default a budget only alerts.
resource "gpupool_budget" "team_a" {
  name      = "team-a"
  gpu_hours = 100
  window    = "24h"

  selector = {
    namespaces   = ["ml"]
    match_labels = { team = "a" }
  }

  thresholds = [50, 80, 100]
}
