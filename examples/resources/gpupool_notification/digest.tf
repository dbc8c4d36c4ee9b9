terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  store = { directory = ".gpupool" }
}

variable "robot" {
  type      = object({ url = string, secret = string })
  ephemeral = true
  default   = { url = "https://oapi.dingtalk.com/robot/send?access_token=example", secret = "SECexample" }
}

# At most one message every 30 minutes, about all pools of a region. At night, only critical
# events are sent.
resource "gpupool_notification" "pools" {
  name              = "pools"
  type              = "dingtalk"
  url_wo            = var.robot.url
  url_wo_version    = 1
  secret_wo         = var.robot.secret
  secret_wo_version = 1

  objects     = ["spot_pool/ap-singapore/*", "run"]
  events      = ["failed", "run_failed", "refused", "lost", "reclaim"]
  digest      = "30m"
  quiet_hours = { start = "22:00", end = "07:00" }
  time_zone   = "Asia/Singapore"
}
