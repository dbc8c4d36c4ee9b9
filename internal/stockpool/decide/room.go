package decide

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// roomsAtMost is how many spot pools are named to which the pods would fit.
const roomsAtMost = 3

// preemption is what the scheduler says beside why a pod fits on no node.
var preemption = regexp.MustCompile(`[.,]? (no new claims to deallocate, )?preemption: .*$`)

// WithRooms is the status of a pool with which spot pool could grow so that the pods fit
// which wait for a node, and why it doesn't. err is why the spot pools are not known.
func (s Status) WithRooms(d stockpool.Declaration, rooms []stockpool.Room, err error) Status {
	at := slices.IndexFunc(s.Conditions, func(c Condition) bool { return c.Type == Scheduled && c.Status == no })
	if at < 0 {
		return s
	}
	s.Conditions = slices.Clone(s.Conditions)
	s.Conditions[at].Message += "\n" + strings.Join(roomFor(d, rooms, err), "\n")
	return s
}

// roomFor says which spot pools have nodes that the pods would fit on by their labels, those
// first that grow. What taints these have is not asked: tolerations are the declaration's.
func roomFor(d stockpool.Declaration, rooms []stockpool.Room, err error) []string {
	if err != nil {
		return []string{"which spot pool could grow is not known: " + err.Error()}
	}
	rooms = slices.DeleteFunc(slices.Clone(rooms), func(r stockpool.Room) bool { return r.ClusterUID != d.ClusterUID })
	if len(rooms) == 0 {
		return []string{"no spot pool has nodes in this cluster that could be more"}
	}
	fit := slices.DeleteFunc(rooms, func(r stockpool.Room) bool { return !fits(d, r) })
	if len(fit) == 0 {
		var asked []string
		for _, key := range slices.Sorted(maps.Keys(d.NodeSelector)) {
			asked = append(asked, key+"="+d.NodeSelector[key])
		}
		needs := "nodes.expected_labels"
		if slices.ContainsFunc(slices.Collect(maps.Keys(d.NodeSelector)), isInstanceType) {
			needs = "nodes.expected_labels and an offering"
		}
		return []string{fmt.Sprintf("no spot pool fits: none has %s as its node_selector asks for (%s)", needs, strings.Join(asked, ", "))}
	}
	slices.SortStableFunc(fit, func(a, b stockpool.Room) int {
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
		lines = append(lines, roomText(r, instanceType(d, r)))
	}
	return lines
}

// roomText says whether the spot pool grows, and why not. Only is the instance type that the
// pods need of it; empty if any of its instances will do.
func roomText(r stockpool.Room, only string) string {
	by := "by its labels"
	if only != "" {
		by += ", with an instance of the type " + only
	}
	switch {
	case r.Why == "":
		return fmt.Sprintf("the spot pool %s fits %s; gpupool explain %s says whether it grows", r.Pool, by, r.Pool)
	case r.Grows:
		return fmt.Sprintf("the spot pool %s fits %s, and grows: %s", r.Pool, by, r.Why)
	}
	return fmt.Sprintf("the spot pool %s fits %s, and does not grow: %s", r.Pool, by, r.Why)
}

// fits says whether nodes of a spot pool are what the pool's pods ask for. Of the labels
// that nodes get by themselves, only the instance type is asked about: offerings name it.
func fits(d stockpool.Declaration, r stockpool.Room) bool {
	for key, value := range d.NodeSelector {
		has, named := r.Labels[key]
		switch {
		case named && has != value, !named && !byItself(key):
			return false
		case !named && isInstanceType(key) && !slices.Contains(r.InstanceTypes, value):
			return false
		}
	}
	return true
}

// instanceType is the one that the pool's pods ask for of a spot pool that has others as
// well; empty otherwise.
func instanceType(d stockpool.Declaration, r stockpool.Room) string {
	for key, value := range d.NodeSelector {
		if _, named := r.Labels[key]; !named && isInstanceType(key) && slices.ContainsFunc(r.InstanceTypes, func(t string) bool { return t != value }) {
			return value
		}
	}
	return ""
}

func isInstanceType(key string) bool {
	return key == corev1.LabelInstanceTypeStable || key == corev1.LabelInstanceType
}

// byItself says whether nodes get a label from the kubelet or the cloud.
func byItself(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return slices.Contains([]string{"kubernetes.io", "node.kubernetes.io", "topology.kubernetes.io", "beta.kubernetes.io", "failure-domain.beta.kubernetes.io"},
		domain)
}
