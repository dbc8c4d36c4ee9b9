terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

# The cheapest of three offerings, each with a price cap, and a cap for the pool.
resource "gpupool_spot_pool" "batch" {
  name    = "batch"
  region  = "ap-singapore"
  minimum = 0
  maximum = 8

  allocation_strategy = "lowest_price"
  max_hourly_cost     = "30" # an hour, all instances together
  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4", spot_max_price = "3.50" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8", spot_max_price = "3.50" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.5XLARGE80", subnet_id = "subnet-e5f6a7b8", spot_max_price = "4.50" },
  ]

  vpc_id             = "vpc-a1b2c3d4"
  security_group_ids = ["sg-a1b2c3d4"]
  image_id           = "img-a1b2c3d4"
  key_ids            = ["skey-a1b2c3d4"]
  system_disk_type   = "CLOUD_BSSD"
  system_disk_size   = 100
  data_disks         = [{ data_disk_type = "CLOUD_BSSD", data_disk_size = 200 }]
  tags               = { team = "a" }
}
