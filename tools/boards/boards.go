package main

// pools, budgets and stocks select what a board's variables name. Every selector has the label
// cluster, which scrapes of several clusters add; without it, All matches.
const (
	all     = `{cluster=~"$cluster"}`
	pools   = `{cluster=~"$cluster", region=~"$region", name=~"$pool"}`
	budgets = `{cluster=~"$cluster", name=~"$budget"}`
	stocks  = `{cluster=~"$cluster", namespace=~"$namespace"}`
)

var (
	regions    = variable{"region", "gpupool_pool_minimum" + all}
	spotPools  = variable{"name", "gpupool_pool_minimum" + all}.as("pool")
	teams      = variable{"name", "gpupool_budget_tracked_pods" + all}.as("budget")
	namespaces = variable{"namespace", "gpupool_stock_pool_desired" + all}
)

var boards = []board{
	{"gpupool-overview", "gpupool / Overview", []selection{namespaces.as("namespace")}, []row{
		{"State", []panel{
			stat("Instances missing", "none", q("sum(gpupool_pool_shortfall"+all+")", "")),
			stat("Capacity", "none", q("sum(gpupool_pool_capacity"+all+")", "")),
			stat("Price", "none", q("sum by (currency) (gpupool_pool_hourly_price"+all+")", "{{currency}} an hour")),
			stat("Budgets over their limit", "none", q("sum(gpupool_budget_consumed_gpu_hours"+all+" >= bool gpupool_budget_limit_gpu_hours"+all+")", "")),
			stat("GPUs in use", "none", q("sum(gpupool_budget_burn_rate_gpus"+all+")", "")),
			stat("Last run", "s", q("time() - max(gpupool_last_run_timestamp_seconds"+all+")", "ago")),
		}},
		{"Objects", []panel{
			table("Objects by state", "none", q("sum by (kind, name, state) (gpupool_object_state"+all+")", "")),
			series("Declarations", "none", q("gpupool_declarations"+all, "{{kind}}")),
		}},
		{"Instances", []panel{
			series("Launches", "none", q("sum by (charge_type) (increase(gpupool_launched_instances_total"+all+"[1h]))", "{{charge_type}} an hour")),
			series("Reclaimed and lost instances", "none", q("increase(gpupool_reclaimed_instances_total"+all+"[1h])", "reclaimed an hour"),
				q("increase(gpupool_lost_instances_total"+all+"[1h])", "lost an hour"),
				q("increase(gpupool_interruption_notices_total"+all+"[1h])", "notices an hour")),
			series("Refused launches", "none", q("sum by (class) (increase(gpupool_refused_launches_total"+all+"[1h]))", "{{class}} an hour")),
			series("Drains of nodes", "none", q("sum by (outcome) (increase(gpupool_drains_total"+all+"[1h]))", "{{outcome}} an hour")),
		}},
		{"Spot pools", []panel{
			series("Capacity", "none", q("sum by (region, name) (gpupool_pool_capacity"+all+")", "{{region}}/{{name}}")),
			series("Shortfall", "none", q("sum by (region, name) (gpupool_pool_shortfall"+all+")", "{{region}}/{{name}}")),
		}},
		{"Budgets", []panel{
			series("Usage of the limit", "percentunit",
				q("gpupool_budget_consumed_gpu_hours"+all+" / gpupool_budget_limit_gpu_hours"+all, "{{name}}")),
			series("GPU-hours left", "h", q("gpupool_budget_remaining_gpu_hours"+all, "{{name}}")),
		}},
		{"Stock pools", []panel{
			series("Available pods", "none", q("gpupool_stock_pool_available"+stocks, "{{namespace}}/{{name}}")),
			series("Allocated pods", "none", q("gpupool_stock_pool_allocated"+stocks, "{{namespace}}/{{name}}")),
			series("Missing pods", "none", q("gpupool_stock_pool_desired"+stocks+" - gpupool_stock_pool_replicas"+stocks, "{{namespace}}/{{name}}")),
			series("Pods waiting for a node", "none", q("gpupool_stock_pool_waiting"+stocks, "{{namespace}}/{{name}}")),
		}},
	}},
	{"gpupool-pool", "gpupool / Spot pool", []selection{regions.as("region"), spotPools}, []row{
		{"Size", []panel{
			series("Size", "none", q("gpupool_pool_capacity"+pools, "{{name}} capacity"), q("gpupool_pool_total"+pools, "{{name}} total"),
				q("gpupool_pool_minimum"+pools, "{{name}} minimum"), q("gpupool_pool_maximum"+pools, "{{name}} maximum")),
			series("Shortfall", "none", q("gpupool_pool_shortfall"+pools, "{{name}}")),
			series("Price", "none", q("gpupool_pool_hourly_price"+pools, "{{name}}, {{currency}} an hour")),
		}},
		{"Nodes", []panel{
			series("Nodes by state", "none", q("sum by (name, state) (gpupool_pool_nodes"+pools+")", "{{name}} {{state}}")),
			series("Drains", "none", q("gpupool_pool_drains"+pools, "{{name}}")),
			stat("Replacement suspended", "bool_yes_no", q("max(gpupool_pool_replacing_suspended"+pools+")", "")),
		}},
	}},
	{"gpupool-budget", "gpupool / Budget", []selection{teams}, []row{
		{"Usage", []panel{
			series("GPU-hours in the window", "h", q("gpupool_budget_consumed_gpu_hours"+budgets, "{{name}} consumed"),
				q("gpupool_budget_limit_gpu_hours"+budgets, "{{name}} limit"), q("gpupool_budget_remaining_gpu_hours"+budgets, "{{name}} left")),
			series("GPUs in use", "none", q("gpupool_budget_burn_rate_gpus"+budgets, "{{name}}")),
			stat("Hours until the limit at this rate", "h",
				q("gpupool_budget_remaining_gpu_hours"+budgets+" / (gpupool_budget_burn_rate_gpus"+budgets+" > 0)", "{{name}}")),
		}},
		{"Enforcement", []panel{
			table("Thresholds reached", "bool_yes_no", q("gpupool_budget_threshold_reached"+budgets, "")),
			series("Effects in progress", "none", q("sum by (name, measure, phase) (gpupool_budget_effects"+budgets+")", "{{name}} {{measure}} {{phase}}")),
			series("Pods in the window", "none", q("gpupool_budget_tracked_pods"+budgets, "{{name}}")),
		}},
		{"Accuracy", []panel{
			series("Error bound and estimates", "h", q("gpupool_budget_error_bound_gpu_hours"+budgets, "{{name}} error bound"),
				q("gpupool_budget_estimated_gpu_hours"+budgets, "{{name}} estimated")),
			series("Observed part of the window", "percentunit", q("gpupool_budget_coverage_ratio"+budgets, "{{name}}")),
		}},
	}},
	{"gpupool-runs", "gpupool / Run health", nil, []row{
		{"Runs", []panel{
			stat("Last run succeeded", "bool_yes_no", q("min(gpupool_run_success"+all+")", "")),
			stat("Last run", "s", q("time() - max(gpupool_last_run_timestamp_seconds"+all+")", "ago")),
			stat("Last success", "s", q("time() - max(gpupool_last_success_timestamp_seconds"+all+")", "ago")),
			series("Duration", "s", q("gpupool_run_duration_seconds"+all, "last run"),
				q("increase(gpupool_run_seconds_total"+all+"[1h]) / increase(gpupool_runs_total"+all+"[1h])", "average of an hour")),
			series("Runs", "none", q("increase(gpupool_runs_total"+all+"[1h])", "an hour")),
		}},
		{"Calls", []panel{
			series("Calls", "none", q("sum by (action) (increase(gpupool_calls_total"+all+"[1h]))", "{{action}} an hour")),
			series("Calls of the last run", "none", q("sum by (action) (gpupool_run_calls"+all+")", "{{action}}")),
		}},
		{"Decisions, jobs and notifications", []panel{
			series("Decisions", "none", q("sum by (kind, outcome) (increase(gpupool_decisions_total"+all+"[1h]))", "{{kind}} {{outcome}}")),
			series("Decisions of the last run", "none", q("sum by (kind, outcome) (gpupool_decisions"+all+") > 0", "{{kind}} {{outcome}}")),
			series("Finished jobs", "none", q("sum by (state) (increase(gpupool_jobs_total"+all+"[1h]))", "{{state}} an hour")),
			series("Messages of notifications", "none",
				q("sum by (outcome) (increase(gpupool_notification_messages_total"+all+"[1h]))", "{{outcome}} an hour")),
		}},
	}},
}
