package budget

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// Told leaves out the events that the history has by now.
func (s Status) Told(has func(history.Event) bool) Status {
	if s.Untold = history.Untold(s.Untold, has); len(s.Untold) == 0 {
		s.Untold, s.LeftOut = nil, 0
	}
	return s
}

// Stored is the status as it is to be stored: events that are more than it keeps are
// left out, and counted.
func (s Status) Stored() Status {
	kept, leftOut := history.Newest(s.Untold)
	s.Untold, s.LeftOut = kept, s.LeftOut+leftOut
	return s
}

func (s *Status) about(reasons ...string) history.About {
	return history.About{At: s.At, Object: "budget/" + s.Name, ObjectUID: s.UID, ClusterUID: s.ClusterUID, Reasons: reasons}
}

// AboutTo is the status to record before these decisions are carried out, where some
// others were: what a kill leaves done of them is told by the next run.
func (p Plan) AboutTo(done, next []Decision) Status {
	s := p.Settle(done)
	for _, d := range next {
		if d.Kind != KindAlert {
			s.AboutTo = append(s.AboutTo, s.events(d)...)
		}
	}
	return s
}

// events are what a decision that had its effect tells, if it does by itself: a freeze
// is told by what is in force. An alert tells of each of its thresholds.
func (s *Status) events(d Decision) []history.Event {
	about := s.about(d.Reasons...)
	switch d.Kind {
	case KindAlert:
		var crossed []history.Event
		for _, threshold := range d.Thresholds {
			crossed = append(crossed, about.Crossed(threshold, s.At))
		}
		return crossed
	case KindPause:
		return []history.Event{about.Workload(history.Pause, d.Owner.identity(), s.At)}
	case KindResume:
		return []history.Event{about.Workload(history.Resume, d.Owner.identity(), s.At)}
	case KindEvict:
		return []history.Event{about.Evicted(history.Identity{Namespace: d.Pod.Namespace, Name: d.Pod.Name, UID: d.Pod.UID})}
	}
	return nil
}

func (w Workload) identity() history.Identity {
	return history.Identity{Namespace: w.Namespace, Name: w.Kind + "/" + w.Name, UID: w.UID}
}

// remember begins the status' events: those of earlier runs, what a run that was
// killed turns out to have done, and what is new of the budget whatever is decided.
func (d *decider) remember() {
	s, previous, of := &d.plan.Status, d.previous(), d.Declaration
	s.LeftOut, s.FrozenSince = previous.LeftOut, previous.FrozenSince
	if s.FrozenSince == nil && slices.Contains(previous.Enforced, Freeze) { // by a gpupool that told nothing
		s.FrozenSince = &previous.At
	}
	untold := slices.Clone(previous.Untold)
	for _, e := range previous.AboutTo {
		switch {
		case d.Befell[e.ID]:
			untold = append(untold, e)
		case d.Unseen:
			s.AboutTo = append(s.AboutTo, e)
		}
	}
	switch {
	case previous.UID == "":
		about := s.about()
		if at := of.PublishedAt; of.Generation <= 1 && !at.IsZero() && at.Before(s.At) {
			about.At = at
		}
		untold = append(untold, about.Declaration(history.Create))
	case of.Generation > previous.Generation:
		untold = append(untold, s.about().Updated(of.Generation))
	}
	was, is := previous.ReportedAt, s.ReportedAt
	if was != nil && (is == nil || !is.Equal(*was)) {
		untold = append(untold, s.about(d.used()).Since(history.Recovered, *was))
	}
	if is != nil && (was == nil || !is.Equal(*was)) {
		reason := d.used()
		if since := s.ExceededSince; since != nil {
			reason += " since " + stamp(*since)
		}
		untold = append(untold, s.about(reason).Since(history.Exceeded, *is))
	}
	d.plan.untold, d.plan.frozenSince, d.plan.unseen = untold, s.FrozenSince, d.Unseen
}

// tell adds the events of what was done to a status that is being settled, and those
// of a freeze that came or went, whoever brought that about.
func (p Plan) tell(s *Status, done []Decision, frozen bool) {
	s.Untold, s.FrozenSince = slices.Clone(p.untold), p.frozenSince
	var reasons []string
	for _, d := range done {
		s.Untold = append(s.Untold, s.events(d)...)
		if d.Kind == KindFreeze || d.Kind == KindUnfreeze {
			reasons = d.Reasons
		}
	}
	switch {
	case p.unseen:
	case frozen && s.FrozenSince == nil:
		at := s.At
		s.FrozenSince = &at
		s.Untold = append(s.Untold, s.about(reasons...).Since(history.Freeze, at))
	case !frozen && s.FrozenSince != nil:
		s.Untold = append(s.Untold, s.about(reasons...).Since(history.Unfreeze, *s.FrozenSince))
		s.FrozenSince = nil
	}
}

// Lifted are the events of what the end of a budget undoes, and of that end: those
// that its last status lacks.
func Lifted(last Status, d Declaration, resumed []Workload, unfrozen bool, reason string, destroyedAt, now time.Time) []history.Event {
	about := history.About{At: now, Object: d.Object(), ObjectUID: d.UID, ClusterUID: d.ClusterUID, Reasons: []string{reason}}
	events := slices.Clone(last.Untold)
	for _, w := range resumed {
		events = append(events, about.Workload(history.Resume, w.identity(), destroyedAt))
	}
	if unfrozen && last.FrozenSince != nil {
		events = append(events, about.Since(history.Unfreeze, *last.FrozenSince))
	}
	about.At, about.Reasons = destroyedAt, nil
	return append(events, about.Declaration(history.Destroy))
}
