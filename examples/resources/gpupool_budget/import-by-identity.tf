import {
  to = gpupool_budget.team_a
  identity = {
    name = "team-a"
  }
}
