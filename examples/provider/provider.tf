terraform {
  required_providers {
    gpupool = {
      source = "gpupool/gpupool"
    }
  }
}

# Credentials come from TENCENTCLOUD_SECRET_ID and TENCENTCLOUD_SECRET_KEY, a
# profile, or the role of the instance or pod that this runs on. Only pools need
# them, and only budgets, and a store in Kubernetes, need the cluster.
provider "gpupool" {
  region              = "ap-singapore"
  allowed_account_ids = ["100000000001"]

  kubernetes = { config_path = "~/.kube/config", config_context = "gpu" }
  store      = { kubernetes_namespace = "gpupool-system" } # or { directory = "/srv/gpupool" }
}
