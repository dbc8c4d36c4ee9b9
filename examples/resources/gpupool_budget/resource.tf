# A hundred GPU-hours in any 24 hours for the pods of team a. Ten minutes after
# the limit is reached, the newest of them are evicted.
resource "gpupool_budget" "team_a" {
  name      = "team-a"
  gpu_hours = "100"
  window    = "24h"

  selector = {
    namespaces   = ["ml"]
    match_labels = { team = "a" }
  }

  thresholds = [50, 80, 100]
  enforcement = {
    action                   = "evict"
    grace_period             = "10m"
    eviction_order           = "newest_start"
    protected_priority_class = "production"
  }
}

# Eight GPUs for twenty days of each month, for all that is not production. It is
# told of, and nothing is enforced.
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

  # What a slice of a GPU counts, and usage by user beside that by namespace.
  resource_weights = { "nvidia.com/mig-1g.5gb" = "1/7" }
  breakdown_labels = ["user"]
}
