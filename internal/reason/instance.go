package reason

// These say what an instance counts as in its pool.
var (
	InstanceRuns     = none("instance_runs", "it runs")
	InstanceStarts   = one[Duration]("instance_starts", Info, "it is starting, for less than the launch timeout of {launch_timeout}", "")
	InstanceUnlisted = one[Instant]("instance_unlisted", Info,
		"its launch was accepted, and no listing shows it yet: it counts as lost from {lost_at} on", "")
	InstanceStuck        = one[Duration]("instance_stuck", Info, "it has been starting for longer than the launch timeout of {launch_timeout}", "")
	InstanceRestricted   = none("instance_restricted", "it runs, but is restricted: expired or isolated")
	InstanceStopped      = none("instance_stopped", "it is stopped")
	InstanceIsolated     = none("instance_isolated", "it is in the recycle bin, and will be destroyed")
	InstanceLaunchFailed = none("instance_launch_failed", "its launch failed")
	InstanceTerminating  = none("instance_terminating", "it is terminating")
	InstanceUnhandled    = one[Word]("instance_unhandled", Info, "nothing is done to instances in the state {state}", "")
	InstanceEnding       = none("instance_ending", "its termination was requested")
	InstanceReclaimed    = one[Instant]("instance_reclaimed", Info, "Tencent Cloud reclaims it at {at}", "")
	InstanceReplaced     = none("instance_replaced", "it is being replaced")
	InstanceProtected    = one[Word]("instance_protected", Info, "never terminated, because of {protection}", "")
	InstanceDrifted      = none("instance_drifted", "its configuration has drifted")
)

// These say how an instance is as a node.
var (
	NodeContested = one[Reason]("node_contested", Info, "its node is ambiguous, so it is not drained, replaced or terminated: {why}", "{why}")
	NodeReady     = one[Node]("node_ready", Info, "its node {node} is Ready", "")
	NodeReadyPods = two[Node, Count]("node_ready_pods", Info, "its node {node} is Ready, with {pods} GPU {pods:pod|pods}", "")
	NodeJoins     = two[Instant, Duration]("node_joins", Info,
		"it is not a Ready node yet, and must join by {by} (join_timeout {join_timeout})", "")
	NodeMustRecover = four[Node, Instant, Instant, Duration]("node_must_recover", Info,
		"its node {node} has not been Ready since {since}, and must recover by {by} (unhealthy_timeout {unhealthy_timeout})", "")
	ReplacedNow    = none("replaced_now", "a run would replace it now")
	ReplacementDue = one[Instant]("replacement_due", Info,
		"it has been marked for replacement since {since}, and is terminated once its replacement works", "")
	NotReplacedSuspended = one[Reason]("not_replaced_suspended", Info, "it is not replaced: replacement is suspended: {why}", "")
	NotReplacedAwaiting  = one[Reason]("not_replaced_awaiting", Info, "it is not replaced while {awaited}: they may recover together", "")
	NotReplacedOnHold    = none("not_replaced_on_hold", "it is not replaced while the pool is on hold")
	NotReplacedBlocked   = none("not_replaced_blocked", "it is not replaced while launches are blocked")
	NotReplacedProtected = none("not_replaced_protected", "it is not replaced while it is protected")
	NotReplacedYet       = one[Count]("not_replaced_yet", Info, "it is not replaced yet: a run begins at most {most} {most:replacement|replacements}", "")
)

// These say how far the drain of a node is, and what becomes of its instance.
var (
	NoticeWithdrawn = one[Node]("notice_withdrawn", Info, "its interruption notice was withdrawn: the next run uncordons its node {node}", "")
	DrainAsked      = three[Node, Instant, Reason]("drain_asked", Info, "its node {node} will be drained, as requested at {asked_at} ({why})", "")
	DrainProceeds   = five[Reason, Reason, Node, Instant, Reason]("drain_proceeds", Info,
		"{then}; {left}; its node {node} has been draining since {since} ({why})", "")
	DrainBeforeReclaim = four[Instant, Node, Reason, Instant]("drain_before_reclaim", Info,
		"at {at} Tencent Cloud reclaims it; its node {node} has had {left} since {since}", "")
	DrainDone     = three[Node, Instant, Reason]("drain_done", Info, "the next run terminates it: its node {node} was drained at {at} ({why})", "")
	DrainTimedOut = four[Node, Instant, Reason, Reason]("drain_timed_out", Info,
		"the next run terminates it: the drain of its node {node} timed out at {at} with {left} ({why})", "")
	DrainKept = four[Instant, Node, Instant, Reason]("drain_kept", Info,
		"drain.on_timeout keeps it: it is not drained again before {until}; the drain of its node {node} timed out at {at} with {left}", "")

	PodsRemain           = one[Count]("pods_remain", Info, "{pods} {pods:pod|pods} left", "")
	PodsRemainBlocked    = two[Count, Foreign]("pods_remain_blocked", Info, "{pods} {pods:pod|pods} left ({blocked})", "")
	DrainEndsByReclaim   = one[Instant]("drain_ends_by_reclaim", Info, "at {at} Tencent Cloud reclaims it", "")
	DrainTimeoutAwaits   = none("drain_timeout_awaits", "its timeout starts once a run can request all evictions and list the remaining pods")
	DrainTimeoutKeeps    = one[Instant]("drain_timeout_keeps", Info, "at {at} it is kept with its pods", "")
	DrainTimeoutEnds     = one[Instant]("drain_timeout_ends", Info, "at {at} it is terminated with its pods", "")
	NoticeAnnounced      = two[Instant, Node]("notice_announced", Info, "Tencent Cloud reclaims it at {at}; its node is {node}", "")
	NoticeAnnouncedReach = three[Instant, Node, Reason]("notice_announced_reach", Info,
		"Tencent Cloud reclaims it at {at}; its node is {node}; {reach}", "")
)
