package reason

// These are results of a request.
var (
	NotClaimed = none("not_claimed", "no run claimed it in time")
	Reconciled = three[Count, Count, Count]("reconciled", Info,
		"reconciled {objects} {objects:object|objects}, {failed} failed, {decisions} {decisions:decision|decisions}", "")
	AppliedDeployment = four[Word, Word, Count, Count]("applied_deployment", Info,
		"applied its Deployment (uid {uid}): {phase}, {pods} of {desired} pods", "")
	GrantedUntil = four[Amount, Word, Instant, Foreign]("granted_until", Info,
		"granted {gpu_hours} {gpu_hours:GPU-hour|GPU-hours} by {who} until {until}: {why}", "")
	GrantedEarlier = none("granted_earlier", "granted by an earlier run")
	HeldUntil      = three[Word, Instant, Foreign]("held_until", Info, "on hold by {who} until {until}: {why}", "")
	HeldEarlier    = none("held_earlier", "held by an earlier run")
	HeldLate       = one[Foreign]("held_late", Warning, "earlier decisions may still be carried out: {why}", "")
	DeletedObject  = one[Object]("deleted_object", Info, "deleted {object}", "")
)

// These refuse a request.
var (
	NotCreated         = two[Object, Reason]("not_created", Warning, "{object} is not created: {why}", "{why}")
	ManagedByTerraform = two[Object, Word]("managed_by_terraform", Warning,
		"{object} is managed by Terraform ({address}), and a request cannot change it", "Change it there")
	RequestedAlready = two[Object, Word]("requested_already", Warning, "{object} exists already, requested by {owner}", "Request another name")
	RequestExceeds   = five[Word, Word, Word, Count, Word]("request_exceeds", Warning,
		"the namespace {namespace} allows {allowed} for requested stock pools: {existing} {pods:exists|exist}, and this request adds {added}", "")
)
