package reason

// Grants and holds, by people and their reasons.
var (
	// Given is why a person held or released something.
	Given          = one[Foreign]("given", Info, "{why}", "")
	Granted        = two[Amount, Foreign]("granted", Info, "{gpu_hours} {gpu_hours:GPU-hour|GPU-hours}: {why}", "")
	GrantEnds      = two[Amount, Word]("grant_ends", Info, "the grant of {gpu_hours} {gpu_hours:GPU-hour|GPU-hours} by {who} ends", "")
	GrantEndsEarly = two[Amount, Word]("grant_ends_early", Info, "the grant of {gpu_hours} {gpu_hours:GPU-hour|GPU-hours} by {who} ends early", "")
	HoldEnds       = one[Word]("hold_ends", Info, "the hold by {who} ends", "")
	HoldEndsEarly  = one[Word]("hold_ends_early", Info, "the hold by {who} ends early", "")
)
