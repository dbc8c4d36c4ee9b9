# The ID is the name of the budget. The store must contain its record.
terraform import gpupool_budget.team_a team-a
