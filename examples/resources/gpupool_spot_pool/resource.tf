terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

# One to two T4 instances, in whichever of two zones has them.
resource "gpupool_spot_pool" "train" {
  name    = "train"
  region  = "ap-singapore"
  minimum = 1
  maximum = 2

  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
    { availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" },
  ]

  vpc_id   = "vpc-a1b2c3d4"
  image_id = "img-a1b2c3d4"
}
