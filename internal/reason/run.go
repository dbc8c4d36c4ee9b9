package reason

// Unexplained is an error without a code of its own.
var Unexplained = one[Foreign]("unexplained", Warning, "{error}", "")

// Explain returns the reason of an error. One without a code is what a cloud, a cluster or a disk said.
func Explain(err error) Reason {
	if why := Of(err); !why.IsZero() {
		return why
	}
	return Unexplained(Failure(err))
}

// These say that a run, or a look at the store, could not read or write something.
var (
	ClusterUnreachable   = one[Reason]("cluster_unreachable", Warning, "the cluster cannot be reached: {error}", "{error}")
	OrphansUnsearched    = one[Foreign]("orphans_unsearched", Warning, "instances and workloads of lost records were not searched: {error}", "")
	NotificationsUnknown = one[Foreign]("notifications_unknown", Warning, "the notifications are unknown: {error}", "")
	EventsUnknown        = one[Foreign]("events_unknown", Warning, "its events are unknown: {error}", "")
	SummaryUnknown       = one[Foreign]("summary_unknown", Warning, "failures of the last runs are unknown: {error}", "")
	SummaryDamaged       = two[Foreign, Foreign]("summary_damaged", Warning,
		"{document} is damaged ({error}): failures of the last runs are unknown", "The next full gpupool reconcile writes it again")
	CountersLack     = two[Word, Foreign]("counters_lack", Warning, "the counters lack the events of {day} until the next run: {error}", "")
	StatusesUnsaved  = one[Foreign]("statuses_unsaved", Warning, "the statuses of spot pools are those of an earlier run for stock pools: {error}", "")
	MarketsUnknown   = two[Word, Foreign]("markets_unknown", Warning, "prices and stock of {region} are unknown: {error}", "")
	SpotQuotaUnknown = two[Word, Foreign]("spot_quota_unknown", Warning, "the spot quota of {region} is unknown: {error}", "")
	NodesUnobserved  = two[Object, Foreign]("nodes_unobserved", Warning,
		"the nodes of {pool} were not observed, so nothing is drained, replaced or terminated; launches continue: {error}", "")
	AsOfLastRun = one[Foreign]("as_of_last_run", Warning, "as of the last run, {warning}", "")
)

// These say that an object without a record has left something.
var (
	InstancesRemain = four[Object, Instant, Names, Word]("instances_remain", Warning,
		"{pool} was destroyed at {at}, and {instances} still {instances:has|have} its uid {uid} and {instances:costs|cost} money",
		"Destroy it again, or apply to keep it, or remove the tag gpupool/uid from {instances:it|them}")
	InstancesRemainImport = five[Object, Instant, Names, Word, Word]("instances_remain_import", Warning,
		"{pool} was destroyed at {at}, and {instances} still {instances:has|have} its uid {uid} and {instances:costs|cost} money",
		"Import it (terraform import ADDRESS {key}), and keep or destroy it, or remove the tag gpupool/uid from {instances:it|them}")
	InstancesRemainOther = four[Object, Instant, Names, Word]("instances_remain_other", Warning,
		"{pool} was destroyed at {at}, and {instances} still {instances:has|have} its uid {uid} and {instances:costs|cost} money. "+
			"Its name is another pool's now",
		"Do not destroy that pool for them: terminate them in the console, or remove the tag gpupool/uid from {instances:it|them}")
	RecordLost = five[Object, Word, Foreign, Reason, Foreign]("record_lost", Warning,
		"the record of {object} (uid {uid}) is lost, and {documents} is left: {follows}",
		"Put {record} back from a copy, or run gpupool reconcile --from-state FILE. If it was destroyed, remove {documents}")
	UnknownRecordLost = four[Word, Foreign, Reason, Foreign]("unknown_record_lost", Warning,
		"the record of an object (uid {uid}) is lost, and {documents} is left: {follows}",
		"Put {record} back from a copy, or run gpupool reconcile --from-state FILE. If it was destroyed, remove {documents}")
	UnmanagedInstances = two[Names, Word]("unmanaged_instances", Info,
		"no run manages its instances {instances}, which carry the tag gpupool/uid={uid} and cost money", "")
	UnmanagedPool       = one[Word]("unmanaged_pool", Info, "no run manages its instances, which carry the tag gpupool/uid={uid} and cost money", "")
	UnmanagedBudget     = none("unmanaged_budget", "no run judges it, and what it froze or paused stays so")
	UnmanagedDeployment = none("unmanaged_deployment", "no run reconciles its Deployment")
	Unmanaged           = none("unmanaged", "no run manages it")
)

// These say which objects of a Terraform state a run takes over.
var (
	StateTainted = one[Foreign]("state_tainted", Warning, "{address} is tainted: the next terraform apply replaces it", "")
	StateOlder   = three[Foreign, Count, Count]("state_older", Warning,
		"{address}: the store has a newer declaration (generation {stored}, and the state has {generation}), and it is used", "")
	StoreWins    = one[Foreign]("store_wins", Warning, "{older}: the store's records win", "")
	OfOtherStore = two[Names, Foreign]("of_other_store", Warning,
		"{addresses} {addresses:is|are} left out: the store {store} has {addresses:its record|their records}", "")
	LeftOut      = two[Foreign, Foreign]("left_out", Warning, "{address} is left out: {why}", "")
	NotTakenOver = two[Foreign, Foreign]("not_taken_over", Warning,
		"{address} is left out: the store {store} has no record of it. No Terraform state has its address and secret", "Run terraform apply with this store")
)

// These say that the history lacks something.
var (
	HistoryLacks    = three[Word, Count, Foreign]("history_lacks", Warning, "the history lacks events of {day} ({events}): {error}", "")
	HistoryUntidied = one[Foreign]("history_untidied", Warning, "the history could not be tidied: {error}", "")
	HistoryLost     = two[Word, Foreign]("history_lost", Warning, "history of {day} is lost: {error}", "")
	HistoryPartLost = four[Word, Word, Word, Foreign]("history_part_lost", Warning, "history of {day} from {from} to {to} is lost: {error}", "")
	HistoryDropped  = two[Instant, Count]("history_dropped", Warning, "the history before {until} was dropped ({kib} KiB): it is older than what is kept", "")
	HistoryTrimmed  = two[Instant, Count]("history_trimmed", Warning, "the history before {until} was dropped ({kib} KiB): there was more than is kept", "")
	EventsCut       = four[Object, Count, Word, Count]("events_cut", Warning,
		"{object}: the history lacks {events} of its events, since a run was cut short before it wrote them, and {document} keeps {most}", "")
)

// These say that the next run continues a request.
var (
	JobContinues = two[Word, Foreign]("job_continues", Warning, "the next run continues with job/{job} and later ones: {error}", "")
	JobRepeated  = three[Word, Object, Foreign]("job_repeated", Warning, "the next run repeats job/{job} ({object}): {error}", "")
	JobCompleted = three[Word, Object, Foreign]("job_completed", Warning, "the next run completes job/{job} ({object}): {error}", "")
	JobWithdrawn = three[Word, Object, Foreign]("job_withdrawn", Warning, "the next run withdraws job/{job} ({object}): {error}", "")
)

// These say that a notification does not deliver something.
var (
	NothingSent       = one[Foreign]("nothing_sent", Warning, "no notifications are sent: {error}", "")
	NotSent           = two[Object, Foreign]("not_sent", Warning, "{notification}: nothing is sent: {error}", "")
	DeliveriesLost    = one[Object]("deliveries_lost", Warning, "{notification}: its deliveries were lost: events before this run are not reported", "")
	ReportedLater     = one[Foreign]("reported_later", Warning, "the events of this run are reported by the next one: {error}", "")
	ReportedLaterOf   = two[Object, Foreign]("reported_later_of", Warning, "{notification}: the next run reports the events of this one: {error}", "")
	NotDestroyed      = two[Object, Foreign]("not_destroyed", Warning, "{object} is not destroyed yet: {error}", "")
	AttemptUnrecorded = two[Object, Foreign]("attempt_unrecorded", Warning,
		"{notification}: nothing is sent, since the attempt cannot be recorded: {error}", "")
	DeliveryUnrecorded = two[Object, Foreign]("delivery_unrecorded", Warning,
		"{notification}: the next run sends a message again, since its delivery cannot be recorded: {error}", "")
	DeliveryFails = four[Object, Instant, Reason, Instant]("delivery_fails", Warning,
		"{notification}: no message was delivered since {since}: {why}. The next attempt is due at {next}", "{why}")
	DestroyedUndelivered = two[Object, Count]("destroyed_undelivered", Warning,
		"{notification}: {events} {events:event|events} that it had not delivered {events:is|are} not reported", "To list {events:it|them}:\ngpupool history")
)

// A run is overdue, in progress, or was killed.
var (
	RunOverdue     = two[Instant, Duration]("run_overdue", Warning, overdue, "Ask those who run gpupool: nothing changes before that")
	RunOverdueHere = two[Instant, Duration]("run_overdue_here", Warning, overdue,
		"Check what starts them: crontab -l, systemctl list-timers, or the service with --every")
	RunOverdueInCluster = three[Instant, Duration, Foreign]("run_overdue_in_cluster", Warning, overdue,
		"Check what starts them:\nkubectl get cronjobs,jobs -n {namespace}")
	StoreUnwritable = two[Instant, Foreign]("store_unwritable", Warning,
		"no run since {started} is recorded: {error}. Every run fails, and cannot record it",
		"Free space there, or make it writable. The next run then continues")
	RunKilled   = two[Foreign, Instant]("run_killed", Warning, "a run was killed: {command}, started {started}; the next run recovers", "")
	RunKilledOn = three[Foreign, Foreign, Instant]("run_killed_on", Warning,
		"a run was killed: {command} on {host}, started {started}; the next run recovers", "")
	RunInProgress = four[Instant, Foreign, Count, Foreign]("run_in_progress", Info,
		"a run has been in progress since {started}: {command}, process {process} on {host}", "")
	RunSilent = two[Duration, Instant]("run_silent", Warning,
		"the run has not renewed its lock for {silent}; if it was killed, the lock expires {expires}, and the next run recovers", "")
	RunTooLong = one[Duration]("run_too_long", Warning, "the run takes unusually long: runs usually start every {usual}",
		"If it hangs, kill that process. The next run recovers")
)

const overdue = "the next run is overdue: the last one started {started}, and runs usually start every {usual}"
