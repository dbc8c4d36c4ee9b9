package notification

import "github.com/gpupool/terraform-provider-gpupool/internal/history"

// endings are the kinds of events that end a lasting condition, with those that begin it.
var endings = map[history.Kind]history.Kind{
	history.Recovered: history.Exceeded, history.GateOpened: history.GateClosed, history.Unsuspend: history.Suspend,
	history.Unfreeze: history.Frozen, history.Withdrawn: history.Notice,
}

// condition returns the lasting condition that an event begins or ends.
func condition(e *history.Event) (of string, ends bool) {
	kind := e.Kind
	if begins, is := endings[kind]; is {
		kind, ends = begins, true
	}
	for _, begins := range endings {
		if kind == begins {
			return e.Object + "/" + string(kind) + instanceOf(e), ends
		}
	}
	if kind.Trouble() {
		return e.Object + "/" + string(kind), false
	}
	return "", false
}

// instanceOf separates the notices of several instances of one pool.
func instanceOf(e *history.Event) string {
	if (e.Kind == history.Notice || e.Kind == history.Withdrawn) && len(e.InstanceIDs) == 1 {
		return "/" + e.InstanceIDs[0]
	}
	return ""
}
