package stockpool

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
)

// Situation is all that Decide judges by.
type Situation struct {
	Declaration Declaration // valid, with its defaults
	Journal     Journal
	Seen        Seen
	// Covers are the budgets that cover the pool's pods, and the one that it names.
	Covers []Cover
	// Reverted says that this operation has reverted drift already: what is there again
	// counts as it is.
	Reverted bool
	// Recorded says that the store has a record of the pool, which an import would find.
	Recorded bool
	Now      time.Time
}

// Plan is what follows from a situation.
type Plan struct {
	// Decisions are what is to be done now, in order: what comes of the first may change
	// the rest.
	Decisions []Decision
	// Ask says that only the dry run of an application tells whether something is to be
	// done.
	Ask bool
	// Refused is why nothing is done although something should be; nil where nothing is
	// refused.
	Refused error
	// Replicas is how many pods the Deployment is to have now.
	Replicas int
	Journal  Journal
	Status   Status
	Warnings []string
}

// TakenError says that what has the pool's name in the cluster is not the pool's own.
type TakenError struct {
	Kind, Key, UID string
	Lost           bool // the pool had one, which is gone
	Recorded       bool // the store has a record of the pool
}

// Error says whose it is not, and what to do.
func (e *TakenError) Error() string {
	text := fmt.Sprintf("there is a %s %s (uid %s) that gpupool did not make: it was left untouched. ", e.Kind, e.Key, e.UID)
	if e.Lost {
		text += "The one that gpupool made is gone. "
	}
	text += fmt.Sprintf("Give the stock pool another name, delete that %s, or ", e.Kind)
	switch {
	case e.Kind != "Deployment":
		return text + "leave out pod_disruption"
	case e.Recorded:
		return text + "take it over: destroy this stock pool, which leaves that Deployment, and then terraform import ADDRESS " + e.Key
	}
	return text + "take it over: terraform import ADDRESS " + e.Key + ", after terraform state rm where the state has this stock pool"
}

// NamespaceError says that the pool's namespace is missing.
type NamespaceError struct{ Namespace string }

// Error says which, and what to do.
func (e *NamespaceError) Error() string {
	return fmt.Sprintf("the cluster has no namespace %s: create it first, and have the stock pool depend on it", e.Namespace)
}

// Decide says what is to be done about a stock pool. Where nothing was seen, that is
// nothing.
func Decide(s Situation) Plan {
	d := newDecider(s)
	d.plan.Journal = s.Journal.Of(s.Declaration)
	if s.Seen.Looked() {
		d.judge()
	}
	d.plan.Status = d.status()
	return d.plan
}

// decider is one Decide at work.
type decider struct {
	Situation
	plan Plan
	// used selects the pods that are in use; nil where nothing says which are.
	used labels.Selector
	// asked is how many pods there would be if no budget held the pool.
	asked int
	// kept is why the pool shrinks less than it should; empty where it does not.
	kept string
	// begun says that a run which was cut short had applied something.
	begun bool
}

func newDecider(s Situation) *decider {
	d := &decider{Situation: s}
	if text := s.Declaration.AllocatedSelector; text != "" {
		d.used, _ = labels.Parse(text) // a valid declaration has a selector
	}
	if d.reverts() {
		d.Covers = slices.DeleteFunc(slices.Clone(d.Covers), func(c Cover) bool { return c.ByDrift })
	}
	return d
}

// reverts says whether an application is due that may revert what others made of the
// Deployment: a budget that counts the pods by that is judged by what is left of it.
func (d *decider) reverts() bool {
	of, j := d.Seen.Deployment, d.Journal
	switch {
	case d.Reverted || !d.own() || j.Applied == "":
		return false
	case j.Applied != d.Declaration.Sum(j.Container):
		return true
	}
	return Fingerprint(of) != j.Answer && (d.Seen.WouldBe == nil || len(Changes(of, d.Seen.WouldBe)) > 0)
}

// own says whether the Deployment that was seen is the pool's own.
func (d *decider) own() bool {
	of := d.Seen.Deployment
	return of != nil && d.Journal.DeploymentUID != "" && string(of.UID) == d.Journal.DeploymentUID
}

// mayOwn says whether a Deployment that is not written down yet is the pool's: the one
// that its declaration takes over, or one that a creation that was cut short made.
func (d *decider) mayOwn() bool {
	of := d.Seen.Deployment
	switch {
	case of == nil || d.own():
		return false
	case d.Journal.Opened != "" && of.Annotations[AnnotationOpened] == d.Journal.Opened:
		return true
	}
	return d.Journal.DeploymentUID == "" && d.Journal.Opened == "" && d.Declaration.DeploymentUID == string(of.UID)
}

// Mine says whether the Deployment that was seen is the pool's own, or would become it.
func (s Situation) Mine() bool {
	d := newDecider(s)
	return d.own() || d.mayOwn()
}

func (d *decider) judge() {
	of := d.Seen.Deployment
	d.befell()
	d.count()
	d.pauses()
	switch {
	case d.Seen.NamespaceMissing:
		d.plan.Refused = &NamespaceError{Namespace: d.Declaration.Namespace}
	case of == nil:
		d.decide(Decision{Kind: KindCreate, Replicas: d.left(), Reasons: d.whyAbsent()})
	case d.mayOwn():
		d.takeOver()
	case !d.own():
		d.plan.Refused = &TakenError{
			Kind: "Deployment", Key: d.Declaration.Key(), UID: string(of.UID), Lost: d.Journal.DeploymentUID != "", Recorded: d.Recorded,
		}
	case of.DeletionTimestamp != nil: // what comes after it is created once it is gone
	default:
		d.tellAdded()
		d.warnOfPause()
		d.keep()
		d.guard()
	}
}

// whyAbsent says why there is no Deployment.
func (d *decider) whyAbsent() []string {
	if d.Journal.DeploymentUID != "" {
		return []string{"somebody deleted its Deployment"}
	}
	return []string{"it has no Deployment yet"}
}

// left is how many replicas a new Deployment starts with: as many as there are pods of the
// one that was deleted, whose ReplicaSets it adopts and would scale down. A budget that
// pauses the pool has it start empty.
func (d *decider) left() (n int) {
	if d.pausing() != nil {
		return 0
	}
	for _, p := range d.Seen.Pods {
		if !p.Ended() {
			n++
		}
	}
	return min(n, MaxReplicas)
}

// takeOver writes down a Deployment that has one container: which of several is the
// runtime nobody said.
func (d *decider) takeOver() {
	of := d.Seen.Deployment
	containers := of.Spec.Template.Spec.Containers
	if len(containers) != 1 {
		d.plan.Refused = fmt.Errorf("the Deployment %s has %d containers, and a stock pool has one: it was left untouched. Give the stock pool another name",
			d.Declaration.Key(), len(containers))
		return
	}
	reason := "it is the one that the declaration takes over"
	if d.Journal.Opened != "" {
		reason = "a run that was cut short created it"
	}
	d.decide(Decision{Kind: KindOwn, Was: replicasOf(of), Replicas: replicasOf(of), Reasons: []string{reason}})
}

// keep has the Deployment be as declared.
func (d *decider) keep() {
	of, j := d.Seen.Deployment, d.Journal
	was := replicasOf(of)
	asked := j.Applied != d.Declaration.Sum(j.Container) || j.Replicas != d.plan.Replicas
	if asked {
		kind, reasons := d.why(was)
		d.change(Decision{Kind: kind, Was: was, Replicas: d.plan.Replicas, Reasons: reasons})
		return
	}
	if Fingerprint(of) == j.Answer {
		return
	}
	if d.Seen.WouldBe == nil {
		d.plan.Ask = true
		return
	}
	changes := Changes(of, d.Seen.WouldBe)
	if len(changes) == 0 { // somebody changed what the pool has no word about
		d.plan.Journal.Answer = Fingerprint(of)
		return
	}
	by := changedBy(of, changes)
	reasons := make([]string, len(changes))
	for n, c := range changes {
		reasons[n] = c.String()
	}
	if len(by) > 0 {
		reasons = append(reasons, fmt.Sprintf("last written by %s", listed(by)))
	}
	d.change(Decision{Kind: KindMend, Was: was, Replicas: d.plan.Replicas, Changes: changes, By: by, Reasons: reasons})
}

// why says why something else is to be applied than what was.
func (d *decider) why(was int) (Kind, []string) {
	j, to := d.Journal, d.plan.Replicas
	paused := d.pausing()
	switch {
	case j.Applied == "":
		return KindApply, append([]string{"nothing of the declaration was applied yet"}, d.heldBack()...)
	case d.begun:
		return KindApply, []string{"a run that was cut short had begun with it"}
	case paused != nil && was > 0:
		return KindPause, []string{paused.Reason}
	case j.Applied != d.Declaration.Sum(j.Container):
		return KindApply, []string{fmt.Sprintf("its declaration changed (generation %d)", d.Declaration.Generation)}
	case to == was && d.kept != "":
		return KindApply, []string{"somebody scaled it up", d.kept}
	case j.Generation == d.Declaration.Generation && to == was && d.heldBack() != nil:
		return KindApply, append([]string{"somebody scaled it down, and it may not grow back"}, d.heldBack()...)
	case j.PausedSince != nil && to > was:
		return KindResume, []string{"no budget has it paused any longer"}
	case j.Generation != d.Declaration.Generation:
		return KindScale, append([]string{fmt.Sprintf("its declaration changed (generation %d)", d.Declaration.Generation)}, d.heldBack()...)
	case d.Declaration.Keep == KeepAvailable && d.heldBack() == nil:
		return KindScale, []string{fmt.Sprintf("%d of its pods %s in use, and %d more are to be available", d.taken(), isAre(d.taken()),
			d.Declaration.Replicas)}
	case d.heldBack() != nil:
		return KindScale, d.heldBack()
	}
	return KindScale, []string{"no budget keeps it from growing any longer"}
}

// change decides on an application. Where that leaves fewer pods, those in use are
// spared first.
func (d *decider) change(of Decision) {
	if of.Replicas < of.Was {
		if spare, release := d.spare(); len(spare)+len(release) > 0 && of.Replicas > 0 {
			d.decide(Decision{Kind: KindSpare, Was: of.Was, Replicas: of.Was, Spared: spare, Released: release,
				Reasons: []string{fmt.Sprintf("%d pods are about to become %d", of.Was, of.Replicas)}})
		}
	}
	d.decide(of)
}

// guard has the PodDisruptionBudget be as declared.
func (d *decider) guard() {
	there, wanted := d.Seen.Guard, d.Declaration.Guard(d.Seen.Deployment)
	own := guards(there, d.Seen.Deployment.UID)
	switch {
	case wanted == nil && own:
		d.decide(Decision{Kind: KindUnguard, Reasons: []string{"its declaration has no pod_disruption any longer"}})
	case wanted == nil:
	case there == nil:
		d.decide(Decision{Kind: KindGuard, Reasons: []string{fmt.Sprintf("evictions are to leave %d available", d.Declaration.PodDisruption.MinimumAvailable)}})
	case !own:
		d.warn("%s", (&TakenError{Kind: "PodDisruptionBudget", Key: d.Declaration.Key(), UID: string(there.UID)}).Error())
	case !equality.Semantic.DeepEqual(there.Spec.MinAvailable, wanted.Spec.MinAvailable) ||
		!equality.Semantic.DeepEqual(there.Spec.Selector, wanted.Spec.Selector):
		d.decide(Decision{Kind: KindGuard, Reasons: []string{fmt.Sprintf("evictions are to leave %d available", d.Declaration.PodDisruption.MinimumAvailable)}})
	case there.Labels[LabelPool] != wanted.Labels[LabelPool]: // by which looks find it
		d.decide(Decision{Kind: KindGuard, Reasons: []string{"somebody took its label"}})
	}
}

func (d *decider) decide(of Decision) {
	of.Object = d.Declaration.Object()
	if !of.Applies() && of.Kind != KindSpare && of.Kind != KindOwn && d.Seen.Deployment != nil {
		of.Was = replicasOf(d.Seen.Deployment)
		of.Replicas = of.Was
	}
	d.plan.Decisions = append(d.plan.Decisions, of)
}

func (d *decider) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(d.plan.Warnings, text) {
		d.plan.Warnings = append(d.plan.Warnings, text)
	}
}

// replicasOf is how many pods a Deployment asks for.
func replicasOf(of *appsv1.Deployment) int {
	switch {
	case of == nil:
		return 0
	case of.Spec.Replicas == nil:
		return 1
	}
	return int(*of.Spec.Replicas)
}
