package reason

// Problems of a request.
var (
	InvalidRequester = one[Foreign]("invalid_requester", Warning, "invalid requester: {error}", "Name the requester in one line of text.")
	InvalidHours     = unreadable("invalid_hours", `Use GPU-hours such as "50" or "12.5".`)
	PoolNoRegion     = one[Quoted]("pool_no_region", Warning, "{pool} has no region", "Use NAME or REGION/NAME.")
	PoolNamespace    = one[Quoted]("pool_namespace", Warning, "{namespace} is not a valid namespace", "Use NAMESPACE/NAME.")
	NotOneRequest    = remedied("not_one_request", "it must request exactly one thing", "Set exactly one of run, grant, hold, stock_pool and delete.")
	InvalidPeriod    = unreadable("invalid_period", `Use a duration such as "4h", or an end.`)
	InvalidWhy       = unreadable("invalid_why", "Give a reason in one line of text.")
	EnvTooLong       = one[Count]("env_too_long", Warning,
		"env, command and args together are longer than {most} bytes",
		"Put long texts into the image or a ConfigMap.")
	LifetimeRange = three[Value, Duration, Duration]("lifetime_range", Warning,
		"its lifetime of "+outOfRange,
		"Declare a stock pool that lasts longer in Terraform.")
	NotOneEnd       = remedied("not_one_end", "its end is missing or ambiguous", `Set either duration, such as "4h", or until.`)
	InvalidDuration = unreadable("invalid_duration", `Use a duration such as "4h" or "2d".`)
	EndIsOver       = one[Instant]("end_is_over", Warning, "its end {until} is over", `Set a later end, or a duration such as "4h".`)
	InvalidKey      = one[Count]("invalid_key", Warning, "it must be at most {most} visible ASCII characters", "Use a random ID for each request.")
)
