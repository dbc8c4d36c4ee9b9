# A budget is imported by its name, from the store's record.
terraform import gpupool_budget.team_a team-a
