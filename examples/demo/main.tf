# A pool of two to four GPU spot instances, in whichever of two zones has them.
# `make demo` applies it to a local CVM. Every ID is made up.

terraform {
  required_providers {
    gpupool = {
      source = "gpupool/gpupool"
    }
  }
}

# The endpoint, the region and the credentials come from the environment.
provider "gpupool" {}

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
  user_data_raw      = "#!/bin/sh\necho ready\n"
  tags               = { team = "a" }
}

output "capacity" {
  description = "How many instances work or start."
  value       = gpupool_spot_pool.train.capacity
}
