terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

# Current prices of T4 instances in Singapore, the cheapest first.
data "gpupool_spot_offers" "t4" {
  region   = "ap-singapore"
  gpu_type = "T4"
}

output "t4" {
  value = [
    for o in data.gpupool_spot_offers.t4.offers :
    "${o.instance_type} in ${o.availability_zone}: ${coalesce(o.price, "?")} ${o.currency} an hour" if o.stock != "sold_out"
  ]
}
