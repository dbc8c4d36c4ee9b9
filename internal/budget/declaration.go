// Package budget declares GPU-hour budgets: the selected pods, the window, the limit and its grants,
// decisions about pods, and the status. Package meter measures usage, and package decide chooses what to do.
// None of the three does IO or reads a clock.
//
// It exports more names than other packages: most are values of the resource's arguments, kinds of decisions,
// and parameters of its ports.
package budget

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Declaration is the desired state of one budget. Its JSON has the names of the
// resource's arguments.
type Declaration struct {
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Generation int64  `json:"generation"`
	ClusterUID string `json:"cluster_uid"` // of the namespace kube-system
	// GPUHours is the limit, a decimal with at most three digits after the point.
	GPUHours string `json:"gpu_hours"`
	// Window is the length of a rolling window, as a Go duration or in days
	// ("24h", "7d"); or Period is a calendar period in TimeZone.
	Window   string   `json:"window,omitempty"`
	Period   Period   `json:"period,omitempty"`
	TimeZone string   `json:"time_zone,omitempty"` // an IANA name; UTC where empty
	Selector Selector `json:"selector"`
	// Thresholds are the percents of the limit at which usage is reported.
	Thresholds []int       `json:"thresholds,omitempty"`
	Enforce    Enforcement `json:"enforcement"`
	CountFrom  CountFrom   `json:"count_from,omitempty"`
	// PodEndEstimate says when a pod ended if its end was not observed.
	PodEndEstimate ledger.EndEstimate `json:"pod_end_estimate,omitempty"`
	// ResourceWeights are GPUs a unit, "1/7" or "0.5", in the place of the
	// defaults; ModelWeights multiply by GPU model or instance type.
	ResourceWeights map[string]string `json:"resource_weights,omitempty"`
	ModelWeights    map[string]string `json:"model_weights,omitempty"`
	// BreakdownLabels are the keys of labels by which usage is broken down.
	BreakdownLabels []string `json:"breakdown_labels,omitempty"`
	// MaxStatusAge is how old the status may be that lets a spot pool launch.
	MaxStatusAge string `json:"max_status_age,omitempty"`
	// PublishedAt is when the limit, or what counts against it, was last changed.
	PublishedAt time.Time `json:"published_at"`
	// ManagedBy is ManagedByFile if gpupool declare declared the budget; empty if Terraform manages it.
	ManagedBy string `json:"managed_by,omitempty"`
	// LimitFalls are the moments at which grants that are part of the limit end.
	LimitFalls []LimitFall `json:"-"`
}

// ManagedByFile marks a budget of a file, such as the values of the Helm chart.
const ManagedByFile = "file"

// FromFile reports whether the budget was declared by a file.
func (d Declaration) FromFile() bool { return d.ManagedBy == ManagedByFile }

// LimitFall is a limit that is lower from a moment on.
type LimitFall struct {
	At    time.Time
	Limit int64 // in milli-GPU-seconds
}

// Terms are a sum over what decides whether the limit is exceeded: the limit, the
// window, the pods and their weights. A status of other terms says nothing of this
// declaration.
func (d Declaration) Terms() string { return d.terms(d.GPUHours) }

// Counted is Terms without the limit: a sum over what decides how much is used.
func (d Declaration) Counted() string { return d.terms("") }

func (d Declaration) terms(limit string) string {
	d = d.WithDefaults()
	text, err := json.Marshal([]any{
		d.UID, d.ClusterUID, limit, d.Window, d.Period, d.TimeZone, d.Selector.key(), d.CountFrom, d.PodEndEstimate,
		d.ResourceWeights, d.ModelWeights,
	})
	if err != nil { // of strings and maps of them there is none
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Object names a budget in decisions, logs and reports: "budget/team-a".
func (d Declaration) Object() string { return "budget/" + d.Name }

// Key names a budget within one store.
func (d Declaration) Key() string { return d.Name }

// Identity tells the budget from others of its name, and its declaration from
// earlier ones.
func (d Declaration) Identity() (uid string, generation int64) { return d.UID, d.Generation }

// WithIdentity is the declaration under an identity.
func (d Declaration) WithIdentity(uid string, generation int64) Declaration {
	d.UID, d.Generation = uid, generation
	return d
}

// The defaults of a declaration.
const (
	DefaultGracePeriod        = "10m"
	DefaultMaxEvictionsPerRun = 10
	DefaultMaxGracePeriod     = "5m"
	DefaultMaxGap             = "15m"
	DefaultMaxStatusAge       = "1h"
)

// RearmBelow is by how many points usage must have fallen below a threshold of a
// rolling window for it to fire again.
const RearmBelow = 5

// DefaultThresholds are the alert thresholds in percent if none are declared.
func DefaultThresholds() []int { return []int{50, 80, 100} }

// WithDefaults fills in what a user may leave out. The window and the limit have
// no default, and a rolling window has no time zone.
func (d Declaration) WithDefaults() Declaration {
	if d.Thresholds == nil {
		d.Thresholds = DefaultThresholds()
	}
	if d.Period != "" {
		d.TimeZone = cmp.Or(d.TimeZone, "UTC")
	}
	d.CountFrom = cmp.Or(d.CountFrom, FromScheduled)
	d.PodEndEstimate = cmp.Or(d.PodEndEstimate, ledger.EstimateMidpoint)
	d.MaxStatusAge = cmp.Or(d.MaxStatusAge, DefaultMaxStatusAge)
	d.Enforce = d.Enforce.withDefaults()
	return d
}

func (e Enforcement) withDefaults() Enforcement {
	e.Action = cmp.Or(e.Action, AlertOnly)
	e.GracePeriod = cmp.Or(e.GracePeriod, DefaultGracePeriod)
	e.MaxGracePeriod = cmp.Or(e.MaxGracePeriod, DefaultMaxGracePeriod)
	e.EvictionOrder = cmp.Or(e.EvictionOrder, LowestPriority)
	e.OnIneffective = cmp.Or(e.OnIneffective, FallbackWarn)
	e.OnManualResume = cmp.Or(e.OnManualResume, ResumeWarn)
	e.MaxGap = cmp.Or(e.MaxGap, DefaultMaxGap)
	e.MaxEvictionsPerRun = cmp.Or(e.MaxEvictionsPerRun, DefaultMaxEvictionsPerRun)
	e.HonorPodProtection = cmp.Or(e.HonorPodProtection, new(true))
	return e
}

// Limit is the budget's limit in milli-GPU-seconds.
func (d Declaration) Limit() (int64, error) { return ParseHours(d.GPUHours) }

// StatusAge is the largest age of a status that lets a spot pool launch.
func (d Declaration) StatusAge() (time.Duration, error) {
	return duration.Parse(d.WithDefaults().MaxStatusAge)
}

// Grace is the time between reaching the limit and the first enforcement.
func (e Enforcement) Grace() time.Duration {
	return lengthOr(e.withDefaults().GracePeriod, LongestDuration)
}

// EndSlack is how long after its deletion timestamp a pod may still exist: its kubelet
// kills its containers then.
const EndSlack = time.Minute

// LongestGrace is the longest grace period of pods.
func (e Enforcement) LongestGrace() time.Duration {
	return lengthOr(e.withDefaults().MaxGracePeriod, LongestDuration)
}

// GraceOf returns the grace period in seconds of a pod that asks for one. It is at most that of the budget,
// and never zero, which would delete the pod by force.
func (e Enforcement) GraceOf(asked int64) int64 {
	return max(1, min(asked, int64(e.LongestGrace()/time.Second)))
}

// LongestGap is the longest gap after which pods may be ended on estimates.
func (e Enforcement) LongestGap() time.Duration { return lengthOr(e.withDefaults().MaxGap, 0) }

// HonorsPods reports whether what is written on a pod itself spares it.
func (e Enforcement) HonorsPods() bool { return *e.withDefaults().HonorPodProtection }

// lengthOr reads a length of time. One that can't be read, which no valid declaration
// has, is the one that does least.
func lengthOr(text string, careful time.Duration) time.Duration {
	length, err := duration.Parse(text)
	if err != nil {
		return careful
	}
	return length
}

// Period is a calendar period.
type Period string

// The periods. A week begins on Monday (ISO 8601).
const (
	Day     Period = "day"
	Week    Period = "week"
	Month   Period = "month"
	Quarter Period = "quarter"
)

// CountFrom says from when a pod's time counts.
type CountFrom string

// From when a pod's time counts.
const (
	FromScheduled CountFrom = "scheduled" // when the node's devices became its own
	FromRunning   CountFrom = "running"   // when its first container started
)

// Selector says whose GPU-hours count. Every part that is given must match; a
// selector without any part is refused.
type Selector struct {
	Namespaces       []string          `json:"namespaces,omitempty"`
	NamespaceLabels  map[string]string `json:"namespace_labels,omitempty"`
	MatchLabels      map[string]string `json:"match_labels,omitempty"`
	MatchExpressions []Expression      `json:"match_expressions,omitempty"`
}

// Expression is one requirement on a pod's labels.
type Expression struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"` // In, NotIn, Exists, DoesNotExist
	Values   []string `json:"values,omitempty"`
}

// Action is the action of a budget whose limit is exceeded.
type Action string

// The actions, from mildest to hardest.
const (
	AlertOnly Action = "alert_only" // report only
	Freeze    Action = "freeze"     // block new GPU pods
	Pause     Action = "pause"      // suspend Jobs, and scale Deployments and StatefulSets to zero
	Evict     Action = "evict"      // block new GPU pods, then evict pods
)

// Past names what a destructive action does to pods.
func (a Action) Past() string {
	if a == Pause {
		return "paused"
	}
	return "evicted"
}

// Enforcement says what is done when the budget is exceeded, and how carefully.
type Enforcement struct {
	Action Action `json:"action"`
	// GracePeriod runs from the latest of the crossing, the publication of the
	// limit and the first run that reported the crossing.
	GracePeriod        string `json:"grace_period,omitempty"`
	MaxEvictionsPerRun int    `json:"max_evictions_per_run,omitempty"`
	// MaxGracePeriod is how long pods may take to end while the budget evicts.
	MaxGracePeriod string        `json:"max_grace_period,omitempty"`
	EvictionOrder  EvictionOrder `json:"eviction_order,omitempty"`
	// Pods whose priority is at or above this one's are protected.
	ProtectedPriorityClass string   `json:"protected_priority_class,omitempty"`
	ProtectedNamespaces    []string `json:"protected_namespaces,omitempty"`
	// HonorPodProtection reports whether a pod's own annotation or label spares it;
	// nil means that it does. Who makes the pod writes that.
	HonorPodProtection *bool `json:"honor_pod_protection,omitempty"`
	// OnManualResume is what happens to a paused workload that another user resumed.
	OnManualResume OnManualResume `json:"on_manual_resume,omitempty"`
	// OnIneffective says what comes after a pause whose pods still run.
	OnIneffective Fallback `json:"on_ineffective,omitempty"`
	// MaxGap is the longest gap after which pods may be evicted on estimates.
	MaxGap string `json:"max_gap,omitempty"`
}

// OnManualResume is what happens to a paused workload that another user resumed.
type OnManualResume string

// The responses to a manual resume.
const (
	ResumeWarn  OnManualResume = "warn" // leave the workload running, and report it
	ResumePause OnManualResume = "pause"
)

// PausesAgain reports whether a workload that another user resumed is paused again.
func (e Enforcement) PausesAgain() bool { return e.OnManualResume == ResumePause }

// Fallback is the measure after one that had no effect in time.
type Fallback string

// The fallbacks.
const (
	FallbackWarn  Fallback = "warn"
	FallbackEvict Fallback = "evict" // the pods that are left; and new ones are kept out
)

// EvictionOrder says who is evicted first.
type EvictionOrder string

// The orders.
const (
	LowestPriority EvictionOrder = "lowest_priority"
	NewestStart    EvictionOrder = "newest_start"
	SpotFirst      EvictionOrder = "spot_first"
	LargestUsage   EvictionOrder = "largest_usage"
)
