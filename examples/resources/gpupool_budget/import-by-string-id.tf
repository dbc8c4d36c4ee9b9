import {
  to = gpupool_budget.team_a
  id = "team-a"
}
