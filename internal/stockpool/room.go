package stockpool

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Room is a spot pool of which nodes could take pods.
type Room struct {
	Pool string // "ap-singapore/train"
	// ClusterUID is of the cluster whose nodes they are, and Labels are what its
	// declaration says that they have.
	ClusterUID string
	Labels     map[string]string
	// Grows says that more nodes of it are on their way. Why says which, or else why
	// there are none; empty where nobody looked.
	Grows bool
	Why   string
}

// roomsAtMost is how many spot pools are named to which the pods would fit.
const roomsAtMost = 3

// preemption is what the scheduler says beside why a pod fits on no node.
var preemption = regexp.MustCompile(`[.,]? (no new claims to deallocate, )?preemption: .*$`)

// WithRooms is the status of a pool with which spot pool could grow so that the pods fit
// which wait for a node, and why it doesn't. err is why the spot pools are not known.
func (s Status) WithRooms(d Declaration, rooms []Room, err error) Status {
	at := slices.IndexFunc(s.Conditions, func(c Condition) bool { return c.Type == Scheduled && c.Status == "False" })
	if at < 0 {
		return s
	}
	s.Conditions = slices.Clone(s.Conditions)
	s.Conditions[at].Message += "\n" + strings.Join(d.room(rooms, err), "\n")
	return s
}

// room says which spot pools have nodes that the pods would fit on by their labels, those
// first that grow. What taints these have is not asked: tolerations are the declaration's.
func (d Declaration) room(rooms []Room, err error) []string {
	if err != nil {
		return []string{"which spot pool could grow is not known: " + err.Error()}
	}
	rooms = slices.DeleteFunc(slices.Clone(rooms), func(r Room) bool { return r.ClusterUID != d.ClusterUID })
	if len(rooms) == 0 {
		return []string{"no spot pool has nodes in this cluster that could be more"}
	}
	fit := slices.DeleteFunc(rooms, func(r Room) bool { return !d.fits(r.Labels) })
	if len(fit) == 0 {
		var asked []string
		for _, key := range slices.Sorted(maps.Keys(d.NodeSelector)) {
			asked = append(asked, key+"="+d.NodeSelector[key])
		}
		return []string{fmt.Sprintf("no spot pool fits: none has nodes.labels as its node_selector asks for (%s)", strings.Join(asked, ", "))}
	}
	slices.SortStableFunc(fit, func(a, b Room) int {
		switch {
		case a.Grows == b.Grows:
			return strings.Compare(a.Pool, b.Pool)
		case a.Grows:
			return -1
		}
		return 1
	})
	var lines []string
	for n, r := range fit {
		if n == roomsAtMost {
			return append(lines, fmt.Sprintf("%d more %s would fit by their labels", len(fit)-n, wording.Plural(len(fit)-n, "spot pool", "spot pools")))
		}
		lines = append(lines, r.String())
	}
	return lines
}

// String says whether the spot pool grows, and why not.
func (r Room) String() string {
	switch {
	case r.Why == "":
		return fmt.Sprintf("the spot pool %s fits by its labels; gpupool explain %s says whether it grows", r.Pool, r.Pool)
	case r.Grows:
		return fmt.Sprintf("the spot pool %s fits by its labels, and grows: %s", r.Pool, r.Why)
	}
	return fmt.Sprintf("the spot pool %s fits by its labels, and does not grow: %s", r.Pool, r.Why)
}

// fits says whether nodes with these labels are what the pool's pods ask for. Labels that
// every node gets by itself are none that a declaration names: they are not asked.
func (d Declaration) fits(labels map[string]string) bool {
	for key, value := range d.NodeSelector {
		if has, named := labels[key]; named && has != value || !named && !byItself(key) {
			return false
		}
	}
	return true
}

// byItself says whether nodes get a label from the kubelet or the cloud.
func byItself(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return slices.Contains([]string{"kubernetes.io", "node.kubernetes.io", "topology.kubernetes.io", "beta.kubernetes.io", "failure-domain.beta.kubernetes.io"}, domain)
}
