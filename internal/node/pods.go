package node

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Pod has the fields of a pod that a drain needs.
type Pod struct {
	Namespace string
	Name      string
	UID       string
	// Controller is the kind of the controller that would recreate it; empty if there is none.
	Controller string
	Mirror     bool      // the kubelet's own, made of a file on the node
	Ended      bool      // Succeeded or Failed
	Ending     bool      // it was deleted, and has not gone yet
	EndsAt     time.Time // if Ending: the end of its grace period
	Protected  bool      // an annotation of it, or of its namespace, forbids its eviction
	// Grace is how many seconds it gets to end.
	Grace int64
}

func (p Pod) String() string { return p.Namespace + "/" + p.Name }

// stays reports whether nothing waits for the pod's end: it has ended, or would be created again on its node.
func (p Pod) stays() bool { return p.Mirror || p.Ended || p.Controller == "DaemonSet" }

// Unmanaged says what happens to pods without a controller.
type Unmanaged string

// The values of unmanaged.
const (
	Wait  Unmanaged = "wait" // until they end, or the drain times out
	Evict Unmanaged = "evict"
)

// Work is the remaining work of a drain.
type Work struct {
	Evict   []Pod    // in the order in which they are to be
	Left    int      // how many pods a drain waits for, those of Evict among them
	Ending  int      // how many of these were deleted, and have not gone yet
	Blocked []string // why it waits for others, for people
}

// Remaining returns the pods that keep a node from being drained. As in kubectl drain (pkg/drain/filters.go),
// pods of daemon sets, mirror pods and ended pods do not count.
func Remaining(pods []Pod, unmanaged Unmanaged) Work {
	var w Work
	sorted := slices.SortedFunc(slices.Values(pods), func(a, b Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	for _, p := range sorted {
		if p.stays() {
			continue
		}
		w.Left++
		switch {
		case p.Ending:
			w.Ending++
			w.block("%s is ending", p)
		case p.Protected:
			w.block("%s is protected from eviction", p)
		case p.Controller == "" && unmanaged != Evict:
			w.block("%s has no controller that would create it again", p)
		default:
			w.Evict = append(w.Evict, p)
		}
	}
	return w
}

// Stuck reports whether all that is left was deleted, and waits for a kubelet that does not
// report: nothing would ever confirm its end.
func (w Work) Stuck(on Node) bool {
	return w.Left > 0 && w.Left == w.Ending && on.Ready == ReadyUnknown
}

func (w *Work) block(format string, p Pod) { w.Blocked = append(w.Blocked, fmt.Sprintf(format, p)) }
