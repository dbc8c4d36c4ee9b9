# Two to four T4 instances, in whichever of two zones has them.
resource "gpupool_spot_pool" "train" {
  name    = "train"
  minimum = 2
  maximum = 4

  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4", spot_max_price = "3.50" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8", spot_max_price = "3.50" },
  ]

  vpc_id             = "vpc-a1b2c3d4"
  security_group_ids = ["sg-a1b2c3d4"]
  image_id           = "img-a1b2c3d4"
  key_ids            = ["skey-a1b2c3d4"]
  system_disk_type   = "CLOUD_BSSD"
  system_disk_size   = 100
  data_disks         = [{ data_disk_type = "CLOUD_BSSD", data_disk_size = 200 }]
  tags               = { team = "a" }

  # After half an hour without spot instances, one on-demand instance stands in.
  on_demand_fallback = { after = "30m", maximum = 1 }

  # A changed image reaches running instances one by one.
  refresh = { strategy = "rolling", max_surge = 1 }

  max_hourly_cost = "15"
}
