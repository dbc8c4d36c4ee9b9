terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  kubernetes = { config_path = "~/.kube/config" }
}

# Two warm pods with one GPU each. With the default security level, the image must run
# as a user other than root.
resource "gpupool_stock_pool" "g1" {
  name      = "pool-g1"
  namespace = "default"
  spec_name = "g1.1"
  image     = "nginxinc/nginx-unprivileged:1.27"
  memory    = "4Gi"
  gpu       = 1
  replicas  = 2
}
