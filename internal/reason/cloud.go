package reason

// A call to Tencent Cloud failed. Their remedy is one of the instructions below; none if only waiting helps.
var (
	CloudFailed  = four[Word, Word, Foreign, Reasons]("cloud_failed", Warning, "{action}: {code}: {message}", "{remedy}")
	CloudRefused = five[Word, Word, Foreign, Word, Reasons]("cloud_refused", Warning,
		"{action}: {code}: {message} (RequestId {request_id})", "{remedy}")
)

// These are instructions for error codes of Tencent Cloud.
var (
	CheckCredentials = none("check_credentials",
		"Check secret_id and secret_key (or the profile, role or token in use): they must be active and belong together.")
	RenewCredentials = none("renew_credentials", "The temporary credentials are expired or wrong: get new ones.")
	SetClock         = none("set_clock", "Set this machine's clock: requests must be signed within five minutes of Tencent Cloud's time.")
	GrantPermission  = three[Foreign, Word, Word]("grant_permission", Info, "Give {identity} the CAM permission {service}:{action}.", "")
	GrantOwn         = two[Word, Word]("grant_own_permission", Info, "Give the identity of these credentials the CAM permission {service}:{action}.", "")
	PassMFA          = none("pass_mfa",
		"The account requires multi-factor authentication for this action: use credentials that passed it, or remove the requirement.")
	CheckRoleName = none("check_role_name", "Check cam_role_name, and that this identity may pass that role.")
	VerifyAccount = none("verify_account", "The account must complete its real-name verification first.")
	ChangeAccount = none("change_account", "Use credentials of the account that is meant, or correct the list.")
	TopUpAccount  = none("top_up_account", "Top up the account, or pay its open orders.")

	RaiseQuota     = none("raise_quota", "Request a higher quota at https://console.cloud.tencent.com/workorder, or lower maximum.")
	RaiseTagValues = none("raise_tag_values",
		"The account has reached its limit of values per tag key. Each pool uses one of gpupool/uid and gpupool/pool, and each configuration "+
			"one of gpupool/config. Request a higher limit, or delete unused values in the tag console (https://console.cloud.tencent.com/tag).")
	UseFewerTags = none("use_fewer_tags", "An instance takes 50 tags: use fewer.")
	CreateTag    = none("create_tag", "Create the tag in the tag console first.")

	LeaveSpot        = none("leave_spot", "Choose another region, or instance_charge_type = \"POSTPAID_BY_HOUR\".")
	CheckRegion      = none("check_region", checkRegion)
	CheckMeantRegion = one[Quoted]("check_meant_region", Info, "Did you mean {region}? "+checkRegion, "")
	MatchRegion      = none("match_region", "The offering's availability zone must be of the pool's region.")
	UseFreeSubnet    = none("use_free_subnet", "Use a subnet with free addresses.")
	TryAnotherDisk   = none("try_another_disk", "Another disk type may be left.")
	SetDiskType      = none("set_disk_type", "Set system_disk_type: another type may be left.")
	RaiseMaxPrice    = none("raise_max_price", "Raise spot_max_price, or omit it for the market price.")
	CorrectOffering  = none("correct_offering", "Remove this offering, or correct its availability zone and instance type.")
	ChangeImage      = none("change_image", "Take this offering out, or use an image for its instance type.")
	SetKeys          = none("set_keys", "Set key_ids, or use a custom image: the login of a public image cannot be kept.")
	CheckGroups      = none("check_security_groups", "Check the security groups.")
	CorrectDeclared  = none("correct_declaration", "Correct the declaration.")
	CheckEndpoint    = none("check_endpoint", "Check the endpoint (endpoint, GPUPOOL_ENDPOINT, domain) and the network.")
	AwaitNewTokens   = none("await_new_tokens",
		"The journal of the pool is an old copy, which lacks later launches. It gets new tokens, and launches go on in 10 minutes, "+
			"once all earlier instances are listed.")
)

const checkRegion = "Check the region's name: see https://cloud.tencent.com/document/product/213/6091."

// These are instructions for the class of an error that says no more.
var (
	AwaitStock          = none("await_stock", "Wait: the next runs retry. Or add offerings in other zones or of other instance types.")
	AcceptPrice         = none("accept_price", "Raise spot_max_price, or remove it to pay the market price. Or add other offerings.")
	AwaitQuota          = none("await_quota", "Request a higher quota from Tencent Cloud, or add offerings in other zones: each zone has its own quota.")
	CorrectAsTold       = none("correct_as_told", "Correct the declaration or the configuration of gpupool, as the message says.")
	UseValidCredentials = none("use_valid_credentials", "Use valid credentials with this permission.")
	AwaitRetry          = none("await_retry", "Wait: the next run retries. If it persists, check the network.")
)

// These are instructions for an object that is out of sync.
var (
	AwaitBudget       = none("await_budget", "Wait until its budget recovers, raise its limit, or grant it more hours for a limited time (gpupool grant).")
	MeasureBudget     = none("measure_budget", "Run gpupool reconcile with access to the cluster, to measure the budget.")
	DeclareBudget     = none("declare_budget", "Declare the budget, or set another one or none in the pool.")
	RaiseHourlyCap    = none("raise_hourly_cap", "Raise max_hourly_cost, or add cheaper offerings.")
	UseSoldOfferings  = none("use_sold_offerings", "Use offerings that Tencent Cloud sells:\ngpupool offers")
	MakeRoom          = one[Object]("make_room", Info, "Raise maximum, or terminate instances that do not work:\ngpupool status {pool} --machines", "")
	FindHungLaunches  = one[Object]("find_hung_launches", Info, "Find out why instances do not start, or raise maximum:\ngpupool status {pool} --machines", "")
	FindKeptInstances = one[Object]("find_kept_instances", Info, "Find out what keeps the instances above maximum:\ngpupool status {pool} --machines", "")
	FixCause          = one[Object]("fix_cause", Info, "Fix the cause; each run retries. To list its failures:\ngpupool history {object} -o wide", "")
	FixCauses         = none("fix_causes", "Fix the cause; each run retries. To list the failures:\ngpupool history --kind failed -o wide")
	GrantHours        = one[Word]("grant_hours", Info,
		"Find the largest users, and grant more hours or raise gpu_hours:\ngpupool usage {budget} --by pod\n"+
			"gpupool grant {budget} 50 --duration 4h --reason TEXT", "")
	RaiseFallback = none("raise_fallback", "Raise on_demand_fallback.maximum, or add other offerings.")
)
