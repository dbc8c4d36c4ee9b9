package reason

// These say why an operation on an object was refused or is not finished.
var (
	AlreadyExists = four[Word, Word, Foreign, Word]("already_exists", Warning, "the {kind} {key} exists already: {found}",
		"To manage it here, import it: terraform import ADDRESS {key}. To have another {noun}, give it another name")
	StillExists = three[Word, Word, Foreign]("still_exists", Warning, "the {kind} {key} still exists: {found}",
		"Apply again once it is gone: gpupool reconcile finishes the deletion, as does terraform destroy with the state that has it")
	OtherCluster        = three[Object, Word, Word]("other_cluster", Warning, otherCluster, "Use the kubeconfig and the context of its own cluster")
	OtherClusterOfNodes = three[Object, Word, Word]("other_cluster_of_nodes", Warning, otherCluster,
		"Use the kubeconfig and the context of its own cluster; to move the pool to another cluster, apply it without nodes first")
	OtherAccount = three[Object, Word, Word]("other_account", Warning,
		"{object} belongs to account {own}, and these credentials to account {used}: nothing was changed", "Use the credentials of account {own}")
	OtherCurrency = three[Object, Word, Word]("other_currency", Warning,
		"{object} has its prices in {own}, and this connection in {used}: nothing was changed",
		"Set the currency to {own} (currency or GPUPOOL_CURRENCY). If the account pays in {used}, apply the pool again: max_hourly_cost and "+
			"spot_max_price are then in {used}")
	BudgetOfOtherCluster = four[Object, Word, Object, Word]("budget_of_other_cluster", Warning,
		"{budget} counts pods of the cluster with uid {cluster}, but the nodes of {object} are in the cluster with uid {own}",
		"Set a budget of the pool's own cluster, or none")
	BudgetNotDeclared  = one[Foreign]("budget_not_declared", Warning, "{found}", "Declare the budget, or name another or none in the pool")
	NotDoneOnHold      = two[Object, Reason]("not_done_on_hold", Warning, "{object} is {hold}", "{hold}")
	CreationUnfinished = none("creation_unfinished",
		"its creation is not finished: it is in progress, or was interrupted and the next terraform apply resumes it")
	CreationForgotten = two[Instant, Word]("creation_forgotten", Warning,
		"its creation was interrupted at {at}, and it is not managed until terraform apply resumes it",
		"If its Terraform state is lost, import it first: terraform import ADDRESS {key}")
	ChangedMeanwhile = one[Word]("changed_meanwhile", Warning, "another process changed or deleted the {object} during this run", "")
	RunInterrupted   = one[Word]("run_interrupted", Warning, "the run was interrupted: the next one continues with this {object}", "")
	LockHeld         = two[Word, Foreign]("lock_held", Warning, "the lock {lock} is held by {holder}", "")
	PodsTerminating  = two[Object, Count]("pods_terminating", Warning,
		"{object} is not destroyed yet: its Deployment is gone, and {pods} of its pods {pods:is|are} terminating",
		"The next gpupool reconcile resumes it, or destroy it again")
	DeploymentTerminating = one[Object]("deployment_terminating", Warning,
		"{object} is not destroyed yet: its Deployment is being deleted and waits for its pods to terminate",
		"The next gpupool reconcile resumes it, or destroy it again")
	EvictionBlocked = two[Workload, Foreign]("eviction_blocked", Warning, "the eviction of the pod {pod} is blocked: {error}", "")
)

const otherCluster = "{object} belongs to another cluster: the uid of its namespace kube-system is {own}. That of the cluster in use is {used}. " +
	"Nothing was changed"

// These say that the cluster lacks what a freeze needs.
var (
	FreezePolicyMissing = one[Word]("freeze_policy_missing", Warning,
		"the ValidatingAdmissionPolicy {policy} is not in the cluster", "Apply what `gpupool manifests` prints")
	FreezePolicyOther = three[Word, Word, Word]("freeze_policy_other", Warning,
		"the ValidatingAdmissionPolicy {policy} is of revision {found}, and this gpupool's is {own}", "Apply what `gpupool manifests` prints")
	FreezeSlotsMissing = two[Word, Word]("freeze_slots_missing", Warning,
		"no slot for a freeze: the cluster has none of the ValidatingAdmissionPolicyBindings {first} to {last}", "Apply what `gpupool manifests` prints")
	FreezeSlotsTaken = two[Count, Word]("freeze_slots_taken", Warning,
		"no free slot for a freeze: other budgets have taken all {slots}. The freeze waits until one of theirs is lifted",
		"Apply more slots with gpupool manifests --freeze-slots, or give these budgets more hours (kubectl get validatingadmissionpolicybindings "+
			"-L {label} shows whose they are)")
)

// These say that requested actions of a budget have no effect.
var (
	Ineffective               = one[Reasons]("ineffective", Warning, "{effects}", deletePods)
	IneffectiveEvictable      = one[Reasons]("ineffective_evictable", Warning, "{effects}", deletePods+orEvict)
	IneffectiveOwned          = one[Reasons]("ineffective_owned", Warning, "{effects}", stopOwners)
	IneffectiveOwnedEvictable = one[Reasons]("ineffective_owned_evictable", Warning, "{effects}", stopOwners+orEvict)
	LateEffect                = two[Word, Reason]("late_effect", Info, "{action} {effect}", "")
	EffectOn                  = one[Workload]("effect_on", Info, "{object}", "")
	EffectOnWhy               = two[Workload, Reasons]("effect_on_why", Info, "{object}: {why}", "")
	EffectUnreached           = two[Workload, Reason]("effect_unreached", Info, "{object} ({why})", "")
	RequestsLate              = three[Count, Duration, Some]("requests_late", Warning,
		"{requests} {requests:request has|requests have} no effect after {timeout}, and the pods still count: {effects}", "")
	NotReached = three[Count, Word, Some]("not_reached", Warning, "{objects} {objects:object|objects} cannot be {action}: {list}", "")
)

const (
	deletePods = "Delete these pods" + hurry
	stopOwners = "Stop the owners that replace deleted pods, and delete the other pods" + hurry
	hurry      = ", those that are terminating with a shorter --grace-period"
	orEvict    = ". Or set enforcement.on_ineffective = \"evict\""
)

// These say how a call to the API server of a cluster failed.
var (
	CallFailed      = three[Word, Foreign, Foreign]("call_failed", Warning, "cannot {verb} {resource}: {error}", "")
	CallUnreachable = three[Word, Foreign, Foreign]("call_unreachable", Warning, "cannot {verb} {resource}: {error}",
		"Check the address of the API server, and that it can be reached from here")
	CallUntrusted = three[Word, Foreign, Foreign]("call_untrusted", Warning, "cannot {verb} {resource}: {error}",
		"Check cluster_ca_certificate and tls_server_name, or take the kubeconfig of this cluster")
	CallUnauthenticated = three[Word, Foreign, Foreign]("call_unauthenticated", Warning, "cannot {verb} {resource}: {error}",
		"The credentials are missing, expired or of another cluster: get new ones")
	CallForbidden = four[Word, Foreign, Foreign, Word]("call_forbidden", Warning, "cannot {verb} {resource}: {error}",
		"The role needs the verb {verb} on {on} (gpupool manifests prints the roles)")
)
