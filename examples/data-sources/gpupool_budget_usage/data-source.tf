# What the last run of gpupool reconcile counted.
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

# A check that fails is a warning, and stops nothing.
check "team_a_has_hours_left" {
  assert {
    condition     = data.gpupool_budget_usage.team_a.exceeded != true
    error_message = "Team a has used its GPU-hours up since ${coalesce(data.gpupool_budget_usage.team_a.exceeded_since, "an unknown time")}."
  }
}
