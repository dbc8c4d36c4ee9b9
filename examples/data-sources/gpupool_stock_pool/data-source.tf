terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  kubernetes = { config_path = "~/.kube/config" }
}

# How many pods can be claimed now, and the conditions that are not met.
data "gpupool_stock_pool" "g1" {
  name      = "pool-g1"
  namespace = "default"
}

output "available" {
  value = data.gpupool_stock_pool.g1.available
}

output "problems" {
  value = [for c in data.gpupool_stock_pool.g1.conditions : "${c.type}: ${coalesce(c.message, c.reason)}" if c.status != "True"]
}
