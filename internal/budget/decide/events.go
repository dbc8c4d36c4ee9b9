package decide

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// StatusBefore returns the status to record before the next decisions are carried out. If the run is
// killed, the next one reports which of them were.
func (p Plan) StatusBefore(done, next []budget.Decision) budget.Status {
	s := p.Settle(done)
	for _, d := range next {
		if d.Kind != budget.KindAlert {
			s.AboutTo = append(s.AboutTo, eventsOf(&s, d)...)
		}
	}
	return s
}

func aboutStatus(s *budget.Status, reasons ...reason.Reason) history.About {
	return history.About{At: s.At, Object: "budget/" + s.Name, ObjectUID: s.UID, ClusterUID: s.ClusterUID, Reasons: reasons}
}

// eventsOf returns the events of a decision that was carried out: one per threshold of an alert. A freeze has
// none here: its events follow from what is in force.
func eventsOf(s *budget.Status, d budget.Decision) []history.Event {
	about := aboutStatus(s, d.Reasons...)
	switch d.Kind {
	case budget.KindAlert:
		var crossed []history.Event
		for _, threshold := range d.Thresholds {
			crossed = append(crossed, about.Crossed(threshold, s.At))
		}
		return crossed
	case budget.KindPause:
		return []history.Event{about.Workload(history.Pause, identity(*d.Owner), s.At)}
	case budget.KindResume:
		return []history.Event{about.Workload(history.Resume, identity(*d.Owner), s.At)}
	case budget.KindEvict:
		return []history.Event{about.Evict(history.Identity{Namespace: d.Pod.Namespace, Name: d.Pod.Name, UID: d.Pod.UID})}
	}
	return nil
}

func identity(w budget.Workload) history.Identity {
	return history.Identity{Namespace: w.Namespace, Name: w.Kind + "/" + w.Name, UID: w.UID}
}

// beginEvents collects the events of earlier runs, of a killed run, and those about the budget that
// depend on no decision.
func (f *facts) beginEvents() {
	s, previous, of := &f.status, f.previous, f.Declaration
	s.LeftOut, s.FrozenSince = previous.LeftOut, previous.FrozenSince
	if s.FrozenSince == nil && slices.Contains(previous.Enforced, budget.Freeze) { // by a version that reported nothing
		s.FrozenSince = &previous.At
	}
	s.Unreported = slices.Clone(previous.Unreported)
	for _, e := range previous.AboutTo {
		switch {
		case f.Happened[e.ID]:
			s.Unreported = append(s.Unreported, e)
			f.previous.Effects = append(slices.Clip(f.previous.Effects), requestedBy(e)...)
		case f.Unseen:
			s.AboutTo = append(s.AboutTo, e)
		}
	}
	switch {
	case previous.UID == "":
		about := aboutStatus(s)
		if at := of.PublishedAt; of.Generation <= 1 && !at.IsZero() && at.Before(s.At) {
			about.At = at
		}
		s.Unreported = append(s.Unreported, about.Declaration(history.Create))
	case of.Generation > previous.Generation:
		s.Unreported = append(s.Unreported, aboutStatus(s).Updated(of.Generation))
	}
	was, is := previous.ReportedAt, s.ReportedAt
	if was != nil && (is == nil || !is.Equal(*was)) {
		s.Unreported = append(s.Unreported, aboutStatus(s, f.used()).Since(history.Recovered, *was))
	}
	if is != nil && (was == nil || !is.Equal(*was)) {
		s.Unreported = append(s.Unreported, aboutStatus(s, f.usedSince()).Since(history.Exceeded, *is))
	}
}

// report adds the events of the decisions that were carried out, and those of a freeze that began or
// ended, whatever caused that.
func (p Plan) report(s *budget.Status, done []budget.Decision, frozen bool) {
	s.Unreported = slices.Clone(s.Unreported)
	var reasons reason.Reasons
	for _, d := range done {
		s.Unreported = append(s.Unreported, eventsOf(s, d)...)
		if d.Kind == budget.KindFreeze || d.Kind == budget.KindUnfreeze {
			reasons = d.Reasons
		}
	}
	switch {
	case p.unseen:
	case frozen && s.FrozenSince == nil:
		s.FrozenSince = new(s.At)
		s.Unreported = append(s.Unreported, aboutStatus(s, reasons...).Since(history.Freeze, s.At))
		if p.frozen { // by a run that could not report it
			s.Unreported = append(s.Unreported, inForce(s))
		}
	case !frozen && s.FrozenSince != nil:
		s.Unreported = append(s.Unreported, aboutStatus(s, reasons...).Since(history.Unfreeze, *s.FrozenSince))
		s.FrozenSince = nil
	}
}

// inForce is the event of a freeze that was observed.
func inForce(s *budget.Status) history.Event {
	about := aboutStatus(s)
	about.Outcome = history.Done
	return about.Since(history.Frozen, *s.FrozenSince)
}

// Lifted returns the events of a destroyed budget that its last status lacks.
func Lifted(last budget.Status, d budget.Declaration, resumed []budget.Workload, unfrozen bool, why reason.Reason, destroyedAt, now time.Time) []history.Event {
	about := d.About(now)
	about.Reasons = reason.Reasons{why}
	events := slices.Clone(last.Unreported)
	for _, w := range resumed {
		events = append(events, about.Workload(history.Resume, identity(w), destroyedAt))
	}
	if unfrozen && last.FrozenSince != nil {
		events = append(events, about.Since(history.Unfreeze, *last.FrozenSince))
	}
	return append(events, d.About(destroyedAt).Declaration(history.Destroy))
}
