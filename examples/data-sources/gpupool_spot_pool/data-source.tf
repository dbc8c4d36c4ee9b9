terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

# Addresses of the running instances, and the hourly price of all.
data "gpupool_spot_pool" "train" {
  name   = "train"
  region = "ap-singapore"
}

output "addresses" {
  value = [for m in data.gpupool_spot_pool.train.machines : m.private_ip if m.state == "RUNNING"]
}

output "hourly_price" {
  value = "${data.gpupool_spot_pool.train.estimated_hourly_price} ${data.gpupool_spot_pool.train.currency}"
}
