terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  kubernetes = { config_path = "~/.kube/config" }
}

# Two pods that are ready to be claimed, at most eight in total. Label a pod with
# "session" to claim it; gpupool then replaces it.
resource "gpupool_stock_pool" "sessions" {
  name      = "sessions"
  namespace = "default"
  spec_name = "g1.1"
  image     = "nginxinc/nginx-unprivileged:1.27"
  memory    = "4Gi"
  gpu       = 1

  replicas           = 2
  replicas_policy    = "available"
  allocated_selector = "session"
  maximum            = 8

  ports = [{ port = 8080, name = "http" }]
}
