terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

# One on-demand instance at all times. After 30 minutes below the minimum, one more
# replaces a spot instance until spot stock returns.
resource "gpupool_spot_pool" "serve" {
  name    = "serve"
  region  = "ap-singapore"
  minimum = 3
  maximum = 4

  on_demand_base     = 1
  on_demand_fallback = { after = "30m", maximum = 1 }

  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" },
  ]

  vpc_id   = "vpc-a1b2c3d4"
  image_id = "img-a1b2c3d4"
}
