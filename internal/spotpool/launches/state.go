package launches

// State is how far a launch has come, as far as its journal can tell.
type State string

// The states of a launch. The last three are never stored: they close the launch.
const (
	// Written: the first call is about to be made, or under way. A run that
	// finds such a launch takes it that the call was made and its answer lost.
	Written State = "written"
	// Asked: the launch is asked for again, since an earlier answer was lost.
	Asked State = "asked"
	// Unknown: the last call certainly launched nothing, and what an earlier
	// one did is unknown.
	Unknown State = "unknown"
	// Seen: some of its instances were found, so that it took effect.
	Seen State = "seen"
	// Refused: it launched nothing.
	Refused State = "refused"
	// Accepted: the cloud named its instances.
	Accepted State = "accepted"
	// Closed: some of its instances were found, and the others are not waited
	// for any more.
	Closed State = "closed"
)

// event is something that happens to a launch.
type event string

const (
	// The launch is asked for once more, since the answer to the last call was lost.
	askedAgain event = "asked again"
	// The cloud answered with the ids of the launch's instances.
	idsCame event = "ids"
	// The last call launched nothing, and no earlier one did.
	refused event = "refused"
	// The last call launched nothing. An earlier one, whose answer was lost, may have
	// launched instances that are not listed yet.
	lastCallRefused event = "refused, though an earlier call may have launched"
	// An observation found some of the launch's instances, but not all.
	someFound event = "some found"
	// An observation found all of the launch's instances.
	allFound event = "all found"
	// TagLag is over since the last call: all that it launched has its tags by now.
	lagIsOver event = "ten minutes after the last call"
)

// states is what the states of a launch are, and what moves it from one to the
// next. An event that a state does not list changes nothing, such as a refusal that
// may speak of only one call of several. A lost answer is no event.
var states = map[State]struct {
	// open launches are in the journal. The instances that they asked for and that
	// were not found yet count as held.
	open bool
	// repeatable ones are asked for again by the next run, with the same token.
	repeatable bool
	becomes    map[event]State
}{
	Written: {open: true, repeatable: true, becomes: map[event]State{
		askedAgain: Asked, idsCame: Accepted, refused: Refused, someFound: Seen, allFound: Closed,
	}},
	Asked: {open: true, repeatable: true, becomes: map[event]State{
		askedAgain: Asked, idsCame: Accepted, refused: Refused, lastCallRefused: Unknown, someFound: Seen, allFound: Closed,
	}},
	Unknown: {open: true, repeatable: true, becomes: map[event]State{
		askedAgain: Asked, idsCame: Accepted, someFound: Seen, allFound: Closed,
	}},
	Seen: {open: true, becomes: map[event]State{
		idsCame: Accepted, someFound: Seen, allFound: Closed, lagIsOver: Closed,
	}},
	Refused:  {},
	Accepted: {},
	Closed:   {},
}

// State is how far a pending launch has come.
func (l Launch) State() State {
	switch {
	case len(l.Seen) > 0:
		return Seen
	case !l.LostAt.IsZero():
		return Asked
	case !l.AskedAt.IsZero():
		return Unknown
	}
	return Written
}
