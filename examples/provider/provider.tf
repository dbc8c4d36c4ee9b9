terraform {
  required_providers {
    gpupool = {
      source = "gpupool/gpupool"
    }
  }
}

# Credentials come from TENCENTCLOUD_SECRET_ID and TENCENTCLOUD_SECRET_KEY, a
# profile, or the role of the instance or pod that this runs on.
provider "gpupool" {
  region              = "ap-singapore"
  allowed_account_ids = ["100000000001"]
  store               = { directory = "/srv/gpupool" }
}
