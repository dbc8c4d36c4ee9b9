terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

provider "gpupool" {
  kubernetes = { config_path = "~/.kube/config" }
}

variable "teams" {
  type    = set(string)
  default = ["vision", "speech"]
}

# The address of each team's group robot.
variable "robots" {
  type      = map(string)
  ephemeral = true
  default = {
    vision = "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=example-1"
    speech = "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=example-2"
  }
}

resource "gpupool_budget" "team" {
  for_each = var.teams

  name       = "team-${each.key}"
  gpu_hours  = 1000
  period     = "month"
  selector   = { namespaces = [each.key] }
  thresholds = [50, 80, 100]
}

# Each team learns when 80% of its GPU-hours are used, when all are, and when usage is below the
# limit again.
resource "gpupool_notification" "team" {
  for_each = gpupool_budget.team

  name           = "team-${each.key}"
  type           = "wecom"
  url_wo         = var.robots[each.key]
  url_wo_version = 1

  objects    = ["budget/${each.value.name}"]
  events     = ["threshold", "exceeded", "recovered"]
  thresholds = [80]
  time_zone  = "Asia/Shanghai"
  page_url   = "https://gpupool.example.com"
}
