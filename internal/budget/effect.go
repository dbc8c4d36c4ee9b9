package budget

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// EffectTimeout is how long a request may take to show its effect. After it, pods that hold GPUs make it
// ineffective, unless they are deleted and about to be gone.
const EffectTimeout = 10 * time.Minute

// effectsAtMost limits the budget's own effects in a status.
const effectsAtMost = 100

// EffectPhase is the phase of a requested change that was not observed yet.
type EffectPhase string

// The phases.
const (
	Requested   EffectPhase = "requested"   // requested less than ten minutes ago
	Ineffective EffectPhase = "ineffective" // it cannot be requested, or was more than ten minutes ago, and pods still hold GPUs
)

// Effect is something that a budget asks of the cluster, and that no later observation has shown to be
// done.
type Effect struct {
	// The requested action: `freeze`, `pause` or `evict`.
	Measure Action `json:"measure"`
	// The workload or pod, such as `Deployment ml/train`. Absent for a freeze.
	Object string `json:"object,omitempty"`
	// The UID of the workload or pod.
	UID string `json:"uid,omitempty"`
	// The stock pool that pauses the workload for the budget.
	StockPool string `json:"stock_pool,omitempty"`
	// The phase of the effect.
	Phase EffectPhase `json:"phase"`
	// Why the action cannot be requested, or was refused. Absent for a request that was accepted.
	Reason reason.Reason `json:"reason,omitzero"`
	// When it was requested, or found to be out of reach.
	Since time.Time `json:"since"`
	// Pods that still hold GPUs and are not about to terminate.
	Pods []string `json:"pods,omitempty"`
	// The number of such pods that are not listed.
	MorePods int `json:"more_pods,omitempty"`
	// About is the object for Kubernetes Events; nil if it was not observed.
	About *Workload `json:"-"`
}

// For returns the effect as a reader of its budget may see it.
func (e Effect) For(reader reason.Renderer) Effect {
	e.Reason = reader.Redact(e.Reason)
	return e
}

// NewEffect returns an effect that is requested now.
func NewEffect(measure Action, object, uid string, pods []string, now time.Time) Effect {
	e := Effect{Measure: measure, Object: object, UID: uid, Phase: Requested, Since: now}
	pods = slices.Sorted(slices.Values(pods))
	e.Pods = pods[:min(len(pods), wording.NamedAtMost)]
	e.MorePods = len(pods) - len(e.Pods)
	return e
}

// maxObstacle limits the reason of an effect: a webhook writes as much as it likes.
const maxObstacle = 300

// Obstacle returns the reason that an action does not reach a workload, of what the cluster says.
func Obstacle(text string) reason.Reason { return reason.OutOfReach(Answer(text)) }

// Answer returns what the cluster says about an action, shortened.
func Answer(text string) reason.Foreign {
	if len(text) > maxObstacle {
		text = strings.ToValidUTF8(text[:maxObstacle], "") + "..."
	}
	return reason.NewForeign(text)
}

// Unreached returns an effect of an action that a reason keeps from an object. Nothing comes of waiting.
func Unreached(measure Action, object, uid string, pods []string, why reason.Reason, now time.Time) Effect {
	e := NewEffect(measure, object, uid, pods, now).Refused(why)
	e.Phase = Ineffective
	return e
}

// Refused returns the effect as one that the cluster refused. It is requested again until its time is over.
func (e Effect) Refused(why reason.Reason) Effect {
	e.Reason = why
	return e
}

// Same reports whether two effects are of the same request.
func (e Effect) Same(other Effect) bool { return e.Measure == other.Measure && e.UID == other.UID }

// After is the effect as the one that follows on what an earlier observation found, if that
// found it: it was requested then.
func (e Effect) After(earlier []Effect, now time.Time) Effect {
	for _, was := range earlier {
		if was.Same(e) && was.StockPool == e.StockPool && was.Since.Before(e.Since) {
			e.Since = was.Since
		}
	}
	if now.Sub(e.Since) >= EffectTimeout {
		e.Phase = Ineffective
	}
	return e
}

// Because returns what it is about, and which pods are left.
func (e Effect) Because() reason.Reason {
	switch reasons := e.Reasons(); {
	case e.StockPool != "":
		return reason.EffectOfPool(reason.Workload(e.Object), reason.Object(e.StockPool), reasons)
	case len(reasons) == 0:
		return reason.EffectOn(reason.Workload(e.Object))
	default:
		return reason.EffectOnWhy(reason.Workload(e.Object), reasons)
	}
}

// String is Because as text.
func (e Effect) String() string { return e.Because().String() }

// Reasons returns why it was not done, and which pods are left.
func (e Effect) Reasons() (list reason.Reasons) {
	if !e.Reason.IsZero() {
		list = append(list, e.Reason)
	}
	if n := len(e.Pods) + e.MorePods; n > 0 && e.Measure != Evict {
		left := reason.Listed{More: e.MorePods}
		for _, name := range e.Pods {
			left.First = append(left.First, reason.Item{Name: name})
		}
		list = append(list, reason.PodsHold(reason.Count(n), left))
	}
	return list
}

// CountEffects returns the number of effects of a measure in a phase.
func CountEffects(list []Effect, measure Action, phase EffectPhase) (n int) {
	for _, e := range list {
		if e.Measure == measure && e.Phase == phase {
			n++
		}
	}
	return n
}

// listedEffects are effects as a status has them: what failed first, then the oldest. Those
// of a stock pool are all listed, since the pool uses them.
func listedEffects(list []Effect) (listed []Effect, leftOut int) {
	list = slices.SortedStableFunc(slices.Values(list), func(a, b Effect) int {
		return cmp.Or(strings.Compare(string(a.Phase), string(b.Phase)), a.Since.Compare(b.Since), strings.Compare(a.Object, b.Object))
	})
	own := 0
	for _, e := range list {
		if e.StockPool == "" {
			own++
		}
		if e.StockPool != "" || own <= effectsAtMost {
			listed = append(listed, e)
		} else {
			leftOut++
		}
	}
	return listed, leftOut
}

// WithEffects is the status with effects, as it lists them.
func (s Status) WithEffects(list []Effect) Status {
	s.Effects, s.EffectsLeftOut = listedEffects(list)
	return s
}

// InForce reports whether something of the budget is in force, or was requested.
func (s Status) InForce() bool { return len(s.Enforced) > 0 || len(s.Effects) > 0 }

// IneffectiveError says that an action does not reach pods, or that they did not end in time. The declaration
// has nothing come after it.
type IneffectiveError struct {
	Effects []Effect
	// Evicts says that evictions follow ineffective pauses already.
	Evicts bool
}

// Because names the workloads and the pods.
func (e *IneffectiveError) Because() reason.Reason {
	var late reason.Some
	unreached, pauses, owned := map[Action]reason.Some{}, false, false
	for _, of := range e.Effects {
		pauses = pauses || of.Measure == Pause
		owned = owned || of.Measure == Pause && !of.Reason.IsZero() && of.Reason.Code != reason.NoOwner().Code
		if !of.Reason.IsZero() {
			unreached[of.Measure] = append(unreached[of.Measure], reason.EffectUnreached(reason.Workload(of.Object), of.Reason))
		} else {
			late = append(late, reason.LateEffect(reason.Word(of.Measure), of.Because()))
		}
	}
	var parts reason.Reasons
	if n := len(late); n > 0 {
		parts = append(parts, reason.RequestsLate(reason.Count(n), reason.Duration(EffectTimeout), late))
	}
	for _, measure := range []Action{Pause, Evict} {
		if n := len(unreached[measure]); n > 0 {
			parts = append(parts, reason.NotReached(reason.Count(n), reason.Word(measure.Past()), unreached[measure]))
		}
	}
	switch evictable := !e.Evicts && pauses; {
	case owned && evictable:
		return reason.IneffectiveOwnedEvictable(parts)
	case owned:
		return reason.IneffectiveOwned(parts)
	case evictable:
		return reason.IneffectiveEvictable(parts)
	}
	return reason.Ineffective(parts)
}

// Error is Because as text.
func (e *IneffectiveError) Error() string { return e.Because().String() }
