terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

# Usage as the last run of gpupool reconcile counted it.
data "gpupool_budget_usage" "team_a" {
  budget = "team-a"
}

output "team_a" {
  value = {
    as_of     = data.gpupool_budget_usage.team_a.as_of
    used      = data.gpupool_budget_usage.team_a.used
    remaining = data.gpupool_budget_usage.team_a.remaining
  }
}

# A failed check is only a warning.
check "team_a_has_hours_left" {
  assert {
    condition     = data.gpupool_budget_usage.team_a.exceeded != true
    error_message = "Team a is above its limit since ${coalesce(data.gpupool_budget_usage.team_a.exceeded_since, "an unknown time")}."
  }
}
