data "gpupool_stock_pool" "g1" {
  name      = "pool-g1"
  namespace = "default"
}

output "available" {
  value = data.gpupool_stock_pool.g1.available
}

output "why_not" {
  value = [for c in data.gpupool_stock_pool.g1.conditions : "${c.type}: ${coalesce(c.message, c.reason)}" if c.status != "True"]
}
