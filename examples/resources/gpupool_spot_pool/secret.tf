terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

# A secret in user data that is in neither the state nor a plan. Terraform 1.11 or later.
variable "license_key" {
  type      = string
  ephemeral = true
  default   = "an example"
}

resource "gpupool_spot_pool" "train" {
  name    = "train"
  region  = "ap-singapore"
  minimum = 1
  maximum = 2

  user_data_raw_wo         = "#!/bin/sh\nexec /opt/worker/start --license '${var.license_key}'\n"
  user_data_raw_wo_version = 1 # raise it to apply another value

  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
  ]

  vpc_id   = "vpc-a1b2c3d4"
  image_id = "img-a1b2c3d4"
}
