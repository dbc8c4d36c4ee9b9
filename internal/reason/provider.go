package reason

// These say which operation a headline is about.
var (
	Planning        = one[Object]("planning", Info, "planning {object}", "")
	Creating        = one[Object]("creating", Info, "creating {object}", "")
	Updating        = one[Object]("updating", Info, "updating {object}", "")
	Destroying      = one[Object]("destroying", Info, "destroying {object}", "")
	Reading         = one[Object]("reading", Info, "reading {object}", "")
	Importing       = one[Object]("importing", Info, "importing {object}", "")
	ReadingBudgetOf = one[Object]("reading_budget_of", Info, "reading the budget of {object}", "")
	ReadingUsage    = one[Object]("reading_usage", Info, "reading the usage of {budget}", "")
	// ReadingMarket is one headline for all pools of a region.
	ReadingMarket = one[Word]("reading_market", Info, "reading the market of {region}", "")
	ReadingOffers = none("reading_offers", "reading spot offers")
)

// The headlines of errors of the account, the cluster and the store.
var (
	OperationFailed = two[Reason, Foreign]("operation_failed", Warning, "{operation} failed", "{error}")
	// OperationCanceled and OperationOverdue are for errors that say nothing else.
	OperationInterrupted = two[Reason, Foreign]("operation_interrupted", Warning, "{operation} was interrupted", "{error}")
	OperationCanceled    = one[Reason]("operation_canceled", Warning, "{operation} was interrupted", "Run terraform again to continue it")
	OperationTimedOut    = two[Reason, Foreign]("operation_timed_out", Warning, "{operation} timed out", "{error}")
	OperationOverdue     = one[Reason]("operation_overdue", Warning, "{operation} timed out",
		"Run terraform again to continue it, or raise the timeout in timeouts")
	ClusterCredentials    = two[Reason, Foreign]("cluster_credentials", Warning, "{operation}: the cluster refused the credentials", "{error}")
	ClusterAway           = two[Reason, Foreign]("cluster_away", Warning, "{operation}: the cluster cannot be reached", "{error}")
	ClusterError          = two[Reason, Foreign]("cluster_error", Warning, "{operation}: the cluster answered with an error", "{error}")
	CloudUnauthorized     = two[Reason, Foreign]("cloud_unauthorized", Warning, "{operation}: Tencent Cloud did not authorize the call", "{error}")
	CloudCredentials      = two[Reason, Foreign]("cloud_credentials", Warning, "{operation}: Tencent Cloud refused the credentials", "{error}")
	CloudError            = two[Reason, Foreign]("cloud_error", Warning, "{operation}: Tencent Cloud returned an error", "{error}")
	ObjectTaken           = two[Word, Foreign]("object_taken", Warning, "{title} exists already", "{error}")
	ObjectAbsent          = two[Word, Foreign]("object_absent", Warning, "{title} not found", "{error}")
	ObjectElsewhere       = two[Word, Foreign]("object_elsewhere", Warning, "{title} is not in this store", "{error}")
	ObjectLocked          = two[Word, Foreign]("object_locked", Warning, "{title} is locked", "{error}")
	WrongAccount          = one[Foreign]("wrong_account", Warning, "wrong account", "{error}")
	WrongCurrency         = one[Foreign]("wrong_currency", Warning, "wrong currency", "{error}")
	WrongCluster          = one[Foreign]("wrong_cluster", Warning, "wrong cluster", "{error}")
	StoreMoved            = one[Foreign]("store_moved", Warning, "store was moved", "{error}")
	StoreUnusable         = one[Foreign]("store_unusable", Warning, "store is unusable", "{error}")
	ProviderUnusable      = one[Foreign]("provider_unusable", Warning, "provider is unusable", "{error}")
	ProviderNotConfigured = one[Foreign]("provider_not_configured", Warning, "provider not configured yet", "{error}")
	ProviderData          = two[Word, Word]("provider_data", Warning, "unexpected provider data",
		"Expected {expected} and got {actual}. This is a bug of the provider")
	PrivateStateUnwritten = one[Foreign]("private_state_unwritten", Warning, "cannot write the private state", "{error}")
)

// These are about the provider's arguments.
var (
	// KubernetesAmbiguous and StoreAmbiguous name two arguments that exclude each other.
	KubernetesAmbiguous = two[Word, Word]("kubernetes_ambiguous", Warning, "kubernetes configuration is ambiguous", "Set either {first} or {second}")
	StoreAmbiguous      = two[Word, Word]("store_ambiguous", Warning, "store is ambiguous", "Set either {first} or {second}")
	InvalidCurrency     = one[Foreign]("invalid_currency", Warning, "invalid currency", "{error}")
	PlainHTTP           = one[Word]("plain_http", Warning, "requests are not encrypted",
		`{host} is called over plain HTTP (protocol = "HTTP"), which exposes user data, temporary tokens and the secrets of roles, and responses can be `+
			"forged. Use HTTPS if the host supports it")
	StoreInJob = two[Word, Word]("store_in_job", Warning, "store may be lost",
		"The store {store} is in a CI job's working directory and likely gone after the job: set the argument store, --store or {variable}")
	StoreMissing = one[Foreign]("store_missing", Warning, "store is missing",
		"{error}. The Terraform state has objects that were recorded in it. The store was lost, or the working directory, the argument or the cluster is "+
			"another one. Without the store, gpupool reconcile refuses to run, and no run manages the instances that are still running. Applying a plan "+
			"creates a new store and records the objects of the state in it. Pending launches, cooldowns and used GPU-hours of the old store are lost")
)

// These are about an argument or an import ID.
var (
	NotAPrice            = one[Foreign]("not_a_price", Warning, "not a price", "{error}")
	NotADuration         = one[Foreign]("not_a_duration", Warning, "not a duration", "{error}")
	ConflictingArguments = two[Word, Word]("conflicting_arguments", Warning, "conflicting arguments",
		"{argument} and {write_only} are the same setting: use one of them")
	MissingVersion = one[Word]("missing_version", Warning, "missing version",
		"{argument} needs {argument}_version: begin with 1, and change it with each change of {argument}")
	VersionWithoutValue = one[Word]("version_without_value", Warning, "version without a value",
		"{argument}_version is the version of {argument}, which is not set: set both, or neither")
	MalformedName = two[Foreign, Word]("malformed_name", Warning, "malformed import ID", `"{id}" is not the name of a {title}: use a name such as "team-a"`)
)

// These are about an object in a plan or an apply. The first argument is the title of its kind, and the second its key.
var (
	DeletionBegun = two[Word, Word]("deletion_begun", Warning, "the deletion of {title} {key} was begun and not finished",
		"A deletion cannot be undone. Applying this plan finishes it, and then creates the {title} again. To only finish it, run terraform destroy "+
			"again. The next gpupool reconcile finishes it, too")
	TakenUnlessReplaced = three[Word, Word, Foreign]("taken_unless_replaced", Warning, "{title} {key} exists already",
		"If this plan replaces it, it is destroyed first. Otherwise the apply is refused: {error}")
	LeftByDestroy = two[Object, Paragraphs]("left_by_destroy", Warning, "destroying {object}", "{warnings}")
	// ObjectObserved, ObjectPlanned and ObjectApplied have headlines of their own. Of several warnings with one headline, Terraform shows
	// the first and counts the others.
	ObjectObserved = three[Word, Word, Paragraphs]("object_observed", Warning, "{title} {key}", "{warnings}")
	ObjectPlanned  = three[Word, Word, Paragraphs]("object_planned", Warning, "{title} {key} in this plan", "{warnings}")
	ObjectApplied  = three[Word, Word, Paragraphs]("object_applied", Warning, "{title} {key} after the apply", "{warnings}")
)
