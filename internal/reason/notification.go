package reason

// Titles of messages and of their lines. An event is a kind of the history, in words.
var (
	EventTitle    = two[Word, Word]("event_title", Info, "{object}: {event}", "")
	NoLonger      = two[Word, Word]("no_longer", Info, "{object}: no longer {event}", "")
	AndMoreEvents = two[Reason, Count]("and_more_events", Info, "{first}, and {more} more {more:event|events}", "")
	EventCount    = one[Count]("event_count", Info, "{events} {events:event|events}", "")
	TestMessage   = one[Word]("test_message", Info, "test of the notification {notification}", "")
)

// These are about a message itself.
var (
	TestArrives       = none("test_arrives", "messages arrive, and events of pools and budgets are sent here")
	SentAgain         = none("sent_again", "sent again, since an earlier attempt may have arrived")
	MoreEvents        = one[Count]("more_events", Info, "and {more} more: gpupool history lists them", "")
	EventsWithoutLine = one[Count]("events_without_line", Warning, "events left out: {left_out}; gpupool history lists them", "")
)

// These say in a message what happened to an object.
var (
	ThresholdReached = one[Count]("threshold_reached", Warning, "alert threshold reached: {percent}%", "")
	// EventError has what a cloud, a cluster or a disk said, with its code.
	EventError          = two[Foreign, Foreign]("event_error", Warning, "{error}", "{remedy}")
	EventErrorOfRequest = three[Foreign, Word, Foreign]("event_error_of_request", Warning, "{error} (RequestId {request_id})", "{remedy}")
)

// Why a condition ended, without an event of its end.
var (
	ObjectDestroyed = none("object_destroyed", "it was destroyed")
	Deselected      = none("deselected", "it is no longer selected")
	NotRefusedFor   = one[Duration]("not_refused_for", Info, "no launch was refused for {duration}", "")
)
