# Every kind of argument in one place. Each team has a pool in two zones, with a cost cap,
# on-demand fallback, and rolling refresh. Each team's pods have a budget of GPU-hours, and
# its pool launches only within that budget.

terraform {
  required_version = ">= 1.11"
  required_providers {
    gpupool = {
      source = "gpupool/gpupool"
    }
  }
}

variable "teams" {
  description = "How many instances each team has at least and at most."
  type        = map(object({ minimum = number, maximum = number }))
  default = {
    vision = { minimum = 2, maximum = 4 }
    speech = { minimum = 0, maximum = 2 }
  }
}

variable "image_id" {
  description = "Image with the GPU driver. A new one replaces running instances one at a time."
  type        = string
  default     = "img-a1b2c3d4"
}

# Credentials come from the environment, a profile or a role.
provider "gpupool" {
  region              = "ap-singapore"
  allowed_account_ids = ["100000000001"]

  kubernetes = { config_path = "~/.kube/config", config_context = "gpu" }
  store      = { kubernetes_namespace = "gpupool-system" }
}

# Each team may have all of its pool's GPUs for half of the month.
resource "gpupool_budget" "team" {
  for_each = var.teams

  name      = "team-${each.key}"
  gpu_hours = provider::gpupool::gpu_hours(each.value.maximum, "15d")
  period    = "month"
  time_zone = "Asia/Singapore"

  selector = {
    namespace_labels = { department = "research" }
    match_labels     = { team = each.key }
    match_expressions = [
      { key = "tier", operator = "NotIn", values = ["production"] },
    ]
  }

  # Alerts, and enforcement at the limit.
  thresholds = [50, 80, 100]
  enforcement = {
    action                   = "evict"
    grace_period             = "10m"
    max_evictions_per_run    = 5
    eviction_order           = "newest_start"
    protected_priority_class = "production"
    protected_namespaces     = ["serving"]
    max_gap                  = "15m"
  }

  # How usage is counted and broken down.
  count_from       = "scheduled"
  pod_end_estimate = "midpoint"
  resource_weights = { "nvidia.com/mig-1g.5gb" = "1/7" }
  model_weights    = { "Tesla-T4" = "0.5" }
  breakdown_labels = ["user"]
  max_status_age   = "30m"

  timeouts = { create = "1m", update = "1m", delete = "5m" }
}

data "gpupool_budget_usage" "team" {
  for_each = gpupool_budget.team

  budget = each.value.name
}

output "remaining_gpu_hours" {
  description = "Remaining GPU-hours of each team this month; null before the first run of gpupool reconcile."
  value       = { for team, usage in data.gpupool_budget_usage.team : team => usage.remaining }
}

resource "gpupool_spot_pool" "team" {
  for_each = var.teams

  name    = "team-${each.key}"
  minimum = each.value.minimum
  maximum = each.value.maximum
  budget  = gpupool_budget.team[each.key].name

  # The cheapest offering at current prices launches first.
  allocation_strategy = "lowest_price"
  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4", spot_max_price = "3.50" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8", spot_max_price = "3.50" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.5XLARGE80", subnet_id = "subnet-e5f6a7b8", spot_max_price = "4.50" },
  ]

  vpc_id             = "vpc-a1b2c3d4"
  security_group_ids = ["sg-a1b2c3d4"]
  image_id           = var.image_id
  key_ids            = ["skey-a1b2c3d4"]
  system_disk_type   = "CLOUD_BSSD"
  system_disk_size   = 100
  data_disks         = [{ data_disk_type = "CLOUD_BSSD", data_disk_size = 200 }]
  cam_role_name      = "gpu-node"
  tags               = { team = each.key }

  user_data_raw = <<-EOT
    #!/bin/sh
    exec /opt/worker/join --team ${each.key}
  EOT

  # Limits of cost and launches, and waiting times.
  max_hourly_cost      = "40"
  max_launches_per_run = 10
  launch_timeout       = "15m"
  cooldown             = "20m"
  on_demand_fallback   = { after = "30m", maximum = 1 }

  # Changes of running instances, and deletion.
  refresh             = { strategy = "rolling", max_surge = 1, max_unavailable = 0 }
  deletion_protection = false
  on_destroy          = "delete"

  timeouts = { create = "20m", update = "20m", delete = "20m" }
}

data "gpupool_spot_pool" "team" {
  for_each = gpupool_spot_pool.team

  name   = each.value.name
  region = each.value.region
}

output "addresses" {
  description = "Private addresses of the running instances, by team."
  value = {
    for team, pool in data.gpupool_spot_pool.team :
    team => [for m in pool.machines : m.private_ip if m.state == "RUNNING"]
  }
}
