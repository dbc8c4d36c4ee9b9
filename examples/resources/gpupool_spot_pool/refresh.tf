terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

# A changed image, disk or script replaces running instances one at a time.
resource "gpupool_spot_pool" "train" {
  name    = "train"
  region  = "ap-singapore"
  minimum = 2
  maximum = 3 # room for a replacement

  refresh = { strategy = "rolling", max_surge = 1 }

  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" },
  ]

  vpc_id        = "vpc-a1b2c3d4"
  image_id      = "img-a1b2c3d4"
  user_data_raw = "#!/bin/sh\nexec /opt/worker/start\n"
}
