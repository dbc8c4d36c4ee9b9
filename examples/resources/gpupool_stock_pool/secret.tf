terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  kubernetes = { config_path = "~/.kube/config" }
}

# An environment variable that is in neither the state nor a plan. Terraform 1.11 or later.
variable "token" {
  type      = string
  ephemeral = true
  default   = "an example"
}

resource "gpupool_stock_pool" "g1" {
  name      = "pool-g1"
  namespace = "default"
  spec_name = "g1.1"
  image     = "nginxinc/nginx-unprivileged:1.27"
  memory    = "4Gi"
  gpu       = 1
  replicas  = 2

  env            = { LOG_LEVEL = "info" }
  env_wo         = { TOKEN = var.token }
  env_wo_version = 1 # raise it to apply other values
}
