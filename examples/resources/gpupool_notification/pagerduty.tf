terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  store = { directory = ".gpupool" }
}

# The integration key of an Events API v2 integration.
variable "integration_key" {
  type      = string
  ephemeral = true
  default   = "example-integration-key-32-chars"
}

# Failures of runs and pools open an incident. Their end resolves it.
resource "gpupool_notification" "on_call" {
  name              = "on-call"
  type              = "pagerduty"
  secret_wo         = var.integration_key
  secret_wo_version = 1
  events            = ["failed", "run_failed", "loss"]
}
