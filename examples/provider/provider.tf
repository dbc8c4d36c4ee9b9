terraform {
  required_providers {
    gpupool = {
      source = "gpupool/gpupool"
    }
  }
}

# Credentials come from TENCENTCLOUD_SECRET_ID and TENCENTCLOUD_SECRET_KEY, a profile, or
# a role. Only spot pools need them. Budgets, stock pools, and a store in a namespace need
# a cluster.
provider "gpupool" {
  region              = "ap-singapore"
  allowed_account_ids = ["100000000001"]

  kubernetes = { config_path = "~/.kube/config" }
  store      = { kubernetes_namespace = "gpupool-system" } # or { directory = "/srv/gpupool" }
}
