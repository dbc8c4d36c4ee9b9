terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  kubernetes = { config_path = "~/.kube/config" }
}

# Eight GPUs for 20 days of each calendar month, for all research that is not production.
resource "gpupool_budget" "research" {
  name      = "research"
  gpu_hours = provider::gpupool::gpu_hours(8, "20d")
  period    = "month"
  time_zone = "Asia/Singapore"

  selector = {
    namespace_labels = { department = "research" }
    match_expressions = [
      { key = "tier", operator = "NotIn", values = ["production"] },
    ]
  }

  # A MIG slice is a seventh of a GPU, and an hour of a T4 counts half.
  resource_weights = { "nvidia.com/mig-1g.5gb" = "1/7" }
  model_weights    = { "Tesla-T4" = "0.5" }

  # Reports break usage down by this pod label, in addition to the namespace.
  breakdown_labels = ["user"]
}
