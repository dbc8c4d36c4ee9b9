package launches

// State is the state of a launch, as far as its journal shows.
type State string

// The states of a launch. The last three are never stored: they close the launch.
const (
	// Written: the first call is about to be made, or in progress. A run that finds such a
	// launch assumes that the call was made and its response lost.
	Written State = "written"
	// Asked: the launch is requested again, since an earlier response was lost.
	Asked State = "asked"
	// Unknown: the last call certainly launched nothing, and the outcome of an earlier one is
	// unknown.
	Unknown State = "unknown"
	// Seen: some of its instances were found, so that it took effect.
	Seen State = "seen"
	// Refused: it launched nothing.
	Refused State = "refused"
	// Accepted: Tencent Cloud returned its instances.
	Accepted State = "accepted"
	// Closed: some of its instances were found, and the others are no longer expected.
	Closed State = "closed"
)

// event is something that happens to a launch.
type event string

const (
	// The launch is requested again, since the response to the last call was lost.
	askedAgain event = "asked again"
	// Tencent Cloud returned the IDs of the launch's instances.
	idsCame event = "ids"
	// The last call launched nothing, and no earlier one did.
	refused event = "refused"
	// The last call launched nothing. An earlier one, whose response was lost, may have
	// launched instances that are not listed yet.
	lastCallRefused event = "refused, though an earlier call may have launched"
	// An observation found some of the launch's instances, but not all.
	someFound event = "some found"
	// An observation found all of the launch's instances.
	allFound event = "all found"
	// TagLag is over since the last call: all that it launched has its tags.
	lagIsOver event = "ten minutes after the last call"
)

// states are the states of a launch, with their transitions. An event that a state does not
// list changes nothing, such as a refusal of one call of several. A lost response is not an
// event.
var states = map[State]struct {
	// Open launches are in the journal. Their instances that were not found yet count
	// toward the total.
	open bool
	// Retryable launches are requested again by the next run, with the same token.
	retryable bool
	becomes   map[event]State
}{
	Written: {open: true, retryable: true, becomes: map[event]State{
		askedAgain: Asked, idsCame: Accepted, refused: Refused, someFound: Seen, allFound: Closed,
	}},
	Asked: {open: true, retryable: true, becomes: map[event]State{
		askedAgain: Asked, idsCame: Accepted, refused: Refused, lastCallRefused: Unknown, someFound: Seen, allFound: Closed,
	}},
	Unknown: {open: true, retryable: true, becomes: map[event]State{
		askedAgain: Asked, idsCame: Accepted, someFound: Seen, allFound: Closed,
	}},
	Seen: {open: true, becomes: map[event]State{
		idsCame: Accepted, someFound: Seen, allFound: Closed, lagIsOver: Closed,
	}},
	Refused:  {},
	Accepted: {},
	Closed:   {},
}

// State returns the state of a pending launch.
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
