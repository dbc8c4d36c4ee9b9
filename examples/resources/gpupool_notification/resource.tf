terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  store = { directory = ".gpupool" }
}

# An incoming webhook of Slack. Its address is a secret. Terraform 1.11 or later.
variable "slack_url" {
  type      = string
  ephemeral = true
  default   = "https://hooks.slack.com/services/EXAMPLE"
}

resource "gpupool_notification" "gpu" {
  name           = "gpu"
  type           = "slack"
  url_wo         = var.slack_url
  url_wo_version = 1 # increase it to apply another address
}
