package reason

// Why a stock pool creates, applies, or changes its Deployment.
var (
	DeploymentMissing  = none("deployment_missing", "it has no Deployment yet")
	DeploymentDeleted  = none("deployment_deleted", "its Deployment was deleted")
	TakesOver          = none("takes_over", "the declaration takes it over")
	InterruptedCreated = none("interrupted_created", "an interrupted run created it")
	NeverApplied       = none("never_applied", "the declaration was never applied")
	NewDeployment      = none("new_deployment", "the declaration was not applied to its new Deployment yet")
	InterruptedBegan   = none("interrupted_began", "an interrupted run began it")
	DeclarationChanged = one[Count]("declaration_changed", Info, "its declaration changed (generation {generation})", "")
	ScaledUp           = none("scaled_up", "it was scaled up")
	ScaledDown         = none("scaled_down", "it was scaled down")
	ScaledUpHeld       = none("scaled_up_held", "it was scaled up, although it may not grow")
	ScaledDownHeld     = none("scaled_down_held", "it was scaled down and may not grow")
	NoBudgetPauses     = none("no_budget_pauses", "no budget pauses it")
	NoBudgetLimits     = none("no_budget_limits", "no budget keeps it from growing")
	ReplicasAvailable  = two[Count, Count]("replicas_available", Info,
		"{in_use} of its pods {in_use:is|are} in use, and {replicas} must be available", "")
	ScalingDown = two[Count, Count]("scaling_down", Info, "scaling from {from} to {to} {to:pod|pods}", "")
	Scaled      = two[Count, Count]("scaled", Info, "from {from} to {to} {to:pod|pods}", "")
	RequestedBy = two[Word, Instant]("requested_by", Info, "requested by {owner} until {until}", "")
	PoolExpired = two[Instant, Word]("pool_expired", Info, "expired at {at}; requested by {owner}", "")

	FieldDrifted = three[Word, Value, Value]("field_drifted", Info, "{field} was {was} instead of {wants}", "")
	// LastWrittenBy names the field managers that changed fields.
	LastWrittenBy = one[Names]("last_written_by", Info, "last written by {managers}", "")
)

// The disruption budget of a stock pool.
var (
	GuardUndeclared   = none("guard_undeclared", "its declaration no longer has a pod_disruption_budget")
	GuardLeaves       = one[Count]("guard_leaves", Info, "evictions must leave {min_available} available", "")
	GuardLabelRemoved = none("guard_label_removed", "its label was removed")
)

// Foreign objects with the name of a stock pool, and other refusals.
var (
	// NotManaged names the kind, the key and the UID of an object.
	NotManaged = three[Word, Word, Word]("not_managed", Warning,
		"the {kind} {key} (uid {uid}) is not managed by gpupool and was not changed", "")
	OwnIsGone       = one[Reason]("own_is_gone", Warning, "{foreign}. The one that gpupool created is gone", "")
	DeploymentTaken = two[Reason, Word]("deployment_taken", Warning, "{foreign}",
		"Rename the stock pool; delete that Deployment; or remove the stock pool from the state and run terraform import ADDRESS {key}")
	DeploymentTakenRecorded = two[Reason, Word]("deployment_taken_recorded", Warning, "{foreign}",
		"Rename the stock pool; delete that Deployment; or destroy this stock pool, which leaves it, then run terraform import ADDRESS {key}")
	GuardTaken = one[Reason]("guard_taken", Warning, "{foreign}",
		"Rename the stock pool; delete that PodDisruptionBudget; or omit pod_disruption_budget")
	NamespaceMissing = one[Word]("namespace_missing", Warning, "the cluster has no namespace {namespace}",
		"Create it first, and have the stock pool depend on it")
	SeveralContainers = two[Word, Count]("several_containers", Warning,
		"the Deployment {key} has {containers} containers, and a stock pool has one: it was not changed", "Give the stock pool another name")
)

// Changes of others to the Deployment of a stock pool.
var (
	UndeclaredField      = one[Word]("undeclared_field", Info, "{field}", "")
	UndeclaredValue      = two[Word, Value]("undeclared_value", Info, "{field} = {value}", "")
	UndeclaredFields     = one[Facts]("undeclared_fields", Warning, "its Deployment has undeclared fields: {fields}", "")
	UndeclaredFieldsBy   = two[Names, Facts]("undeclared_fields_by", Warning, "its Deployment has undeclared fields, last written by {managers}: {fields}", "")
	UndeclaredFieldsStay = three[Reason, Word, Word]("undeclared_fields_stay", Warning, "{undeclared}. An apply does not remove them",
		"Run kubectl edit deployment/{deployment} -n {namespace}, or delete the Deployment; the next run creates it again")
	OtherAutoscaler = two[Value, Word]("other_autoscaler", Warning, "another process also changes its replicas: {autoscaler}",
		`Delete that autoscaler, or destroy the stock pool with on_destroy = "{on_destroy}"`)
	RolloutPaused = two[Word, Word]("rollout_paused", Warning,
		"the rollout of its Deployment is paused, so changes of the declaration do not reach its pods",
		"Resume it: kubectl rollout resume deployment/{deployment} -n {namespace}")
	PodsUnlike = two[Count, Some]("pods_unlike", Warning,
		"{count} {pods:pod differs|pods differ} from its Deployment's template, and {pods:does|do} not count as available: {pods}",
		"Delete {pods:it|them}; the Deployment creates others")
	UnlikePod          = two[Word, Value]("unlike_pod", Warning, "{pod} ({difference})", "")
	DriftUnchecked     = none("drift_unchecked", "its Deployment was changed; the next run checks whether declared fields are affected")
	DeletionUnfinished = one[Word]("deletion_unfinished", Warning,
		"the deletion of {object} was begun and not finished", "Finish it with terraform destroy or gpupool reconcile")
	DriftUnknown      = one[Foreign]("drift_unknown", Warning, "drift of its Deployment is unknown, since the cluster refuses a dry run: {error}", "")
	DeploymentEnding  = none("deployment_ending", "its Deployment is being deleted, and is created again once it is gone")
	NextChange        = two[Text, Reasons]("next_change", Info, "{change}: {reasons}", "")
	SelectedByDefault = three[Value, Word, Word]("selected_by_default", Warning,
		"each new pod counts as in use, since its Deployment has labels that allocated_selector selects ({selector}), so the pool does not grow for them",
		"Remove the labels: kubectl edit deployment/{deployment} -n {namespace}")
)

// Why a stock pool does not have the desired pods, or why they do not work.
var (
	GrowthBlocked = one[Reasons]("growth_blocked", Warning, "{budgets}", "")
	CannotGrow    = one[Reason]("cannot_grow", Warning, "it cannot grow: {why}", "")
	// CannotGrowAtMaximum is CannotGrow for StockAtMaximum.
	CannotGrowAtMaximum = one[Reason]("cannot_grow_at_maximum", Warning, "it cannot grow: {why}", "Raise maximum, or release pods")
	PausedHolding       = two[Count, Names]("paused_holding", Warning,
		"its Deployment was scaled to 0, and {count} {count:pod still holds|pods still hold} GPUs: {pods}", "")
	PodsKept = three[Count, Count, Reason]("pods_kept", Warning, "{desired} {desired:pod is|pods are} desired, and {kept} stay: {why}", "")
	// These are reasons for PodsKept.
	RolloutDeletesUsed = none("rollout_deletes_used",
		"a rollout is in progress, and a scale-down during it deletes old and new pods, including those in use")
	UsedDeletedFirst = two[Count, Names]("used_deleted_first", Info,
		"{in_use} in use would be deleted before idle ones, since a ReplicaSet first deletes pods that are pending or not ready ({pods})", "")

	ShortOfPods = three[Count, Count, Count]("short_of_pods", Warning,
		"{available} of {replicas} {replicas:is|are} available, and {in_use} {in_use:is|are} in use", "")
	StockAtMaximum = two[Reason, Count]("stock_at_maximum", Warning, "{short}: it has reached its maximum of {maximum}",
		"Raise maximum, or release pods")
	// PodsUnscheduled has the message of the scheduler.
	PodsUnscheduled = two[Count, Value]("pods_unscheduled", Warning, "{pods} {pods:pod waits|pods wait} for a node: {scheduler}", "")
	// PodsNotStarted has PodsStuck for each cause, which the kubelet names.
	PodsNotStarted = one[Facts]("pods_not_started", Warning, "{causes}", "")
	PodsStuck      = two[Count, Value]("pods_stuck", Warning, "{pods} {pods:pod waits|pods wait}: {cause}", "")
	// RolloutFailed has the message of the Deployment.
	RolloutFailed  = one[Value]("rollout_failed", Warning, "{message}", "")
	RollingOut     = two[Count, Count]("rolling_out", Info, "{updated} of {pods} pods are up to date", "")
	RollingOutLeft = two[Reason, Count]("rolling_out_left", Info, "{progress}, and {older} older {older:one is|ones are} left", "")

	PodsNotReady    = three[Count, Count, Word]("pods_not_ready", Warning, "{ready} of {desired} pods are ready ({phase})", "Follow it with gpupool status")
	PodsNotReadyFor = four[Count, Count, Word, Reasons]("pods_not_ready_for", Warning, "{ready} of {desired} pods are ready ({phase}): {why}",
		"Follow it with gpupool status")
	// PodsUnsettled is for pods that are ready while their Deployment still changes.
	PodsUnsettled = two[Count, Reasons]("pods_unsettled", Warning, "{desired} {desired:pod is|pods are} ready, but its Deployment is not settled: {why}",
		"Follow it with gpupool status")
	ConditionUnmet = one[Word]("condition_unmet", Info, "{reason}", "")
)

// How a pod counts.
var (
	PodEnding     = none("pod_ending", "it is being deleted")
	PodEnded      = one[Value]("pod_ended", Info, "it has ended: {phase}", "")
	PodSelected   = none("pod_selected", "allocated_selector selects it")
	PodDiffers    = one[Value]("pod_differs", Warning, "it differs from its Deployment's template: {difference}", "")
	PodIdle       = none("pod_idle", "it is ready, and not in use")
	PodUnfit      = none("pod_unfit", "it waits for a node")
	PodStuck      = one[Value]("pod_stuck", Warning, "{cause}", "")
	PodUnassigned = none("pod_unassigned", "it has no node yet")
	PodUnready    = none("pod_unready", "it is not ready yet")
)

// Which spot pool could grow for pods that wait for a node.
var (
	RoomsUnknown    = one[Foreign]("rooms_unknown", Warning, "which spot pool could grow is unknown: {error}", "")
	NoSpotPoolGrows = none("no_spot_pool_grows", "no spot pool of this cluster can grow")
	NoSpotPoolFits  = two[Word, Value]("no_spot_pool_fits", Info, "no spot pool fits: none has {needs} for its node_selector ({node_selector})", "")
	MoreRooms       = one[Count]("more_rooms", Info, "{pools} more {pools:spot pool has|spot pools have} matching labels", "")
	RoomFits        = one[Object]("room_fits", Info, "{spot_pool} has matching labels", "")
	RoomFitsType    = two[Object, Word]("room_fits_type", Info, "{spot_pool} has matching labels and the instance type {instance_type}", "")
	RoomUnknown     = two[Reason, Object]("room_unknown", Info, "{fit}", "gpupool explain {spot_pool} reports whether it grows")
	RoomGrows       = two[Reason, Foreign]("room_grows", Info, "{fit}, and grows: {why}", "")
	RoomStays       = two[Reason, Foreign]("room_stays", Info, "{fit}, and does not grow: {why}", "")
)

// Budgets that cover a stock pool.
var (
	CoverUnknown  = two[Object, Foreign]("cover_unknown", Warning, "whether {budget} covers it is unknown: {error}", "")
	UsageUnknown  = two[Object, Foreign]("usage_unknown", Warning, "usage of {budget} is unknown: {error}", "")
	BudgetMissing = two[Object, Foreign]("budget_missing", Warning, "{budget} is not declared: {error}", "")
	UsedUp        = three[Object, Amount, Amount]("used_up", Warning, "{budget} is used up: {used} of {limit} GPU-hours", "")
	UsedUpByDrift = three[Object, Amount, Amount]("used_up_by_drift", Warning,
		"{budget}, which counts its pods because of undeclared labels of its Deployment, is used up: {used} of {limit} GPU-hours", "")
	UsedUpNotPaused = two[Reason, Reason]("used_up_not_paused", Warning, "{used_up}; it is not paused, since {why}", "")
	// These are reasons for UsedUpNotPaused.
	NoResourcesCounted = none("no_resources_counted", "the budget counts no resources of its pods")
	TemplateUncertain  = none("template_uncertain", "its template does not show whether its pods hold GPUs")
	ProtectionUnknown  = one[Foreign]("protection_unknown", Warning, "whether its pods are protected is unknown: {error}", "")
	PodsProtected      = two[Count, Some]("pods_protected", Info, "{count} of its pods {pods:is|are} protected: {pods}", "")
	ProtectedPod       = two[Word, Reason]("protected_pod", Info, "{pod} ({why})", "")

	// DeclaredTogether explains an undeclared budget during an apply: Terraform creates unrelated
	// resources in any order, so the budget may be next.
	DeclaredTogether = none("declared_together",
		"A budget that the same apply declares needs nothing but the next run of gpupool reconcile, which judges it.")
)

// The deletion of a stock pool leaves these.
var (
	ForeignLeft  = two[Word, Word]("foreign_left", Info, "the Deployment {key} (uid {uid}) is not managed by gpupool and was left", "")
	Retained     = one[Word]("retained", Info, "the Deployment {key} was left and is no longer managed", "")
	RetainedSize = two[Reason, Count]("retained_size", Info,
		"{retained}. A budget had paused it, and it has its {replicas} {replicas:replica|replicas} again: budgets pause it like any other Deployment", "")
	PodsLeftRunning = two[Names, Word]("pods_left_running", Warning,
		"its Deployment was deleted before, and its pods {pods} in the namespace {namespace} were left: delete them if they are not needed", "")
	DestroyLost = none("destroy_lost", "the history lacks its destroy event, which is lost")
)
