package decide

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

const roomsAtMost = 3

// preemption matches the preemption result in a scheduler message.
var preemption = regexp.MustCompile(`[.,]? (no new claims to deallocate, )?preemption: .*$`)

// WithRooms adds to a status which spot pool could grow for the pods that wait for a node, or
// why none can. err is why the spot pools are unknown.
func (s Status) WithRooms(d stockpool.Declaration, rooms []stockpool.Room, err error) Status {
	at := slices.IndexFunc(s.Conditions, func(c Condition) bool { return c.Type == Scheduled && c.Status == no })
	if at < 0 {
		return s
	}
	s.Conditions = slices.Clone(s.Conditions)
	s.Conditions[at].Rooms = roomFor(d, rooms, err)
	return s
}

// roomFor names the spot pools whose node labels fit the pods, growing ones first. Taints are
// not checked, since the declaration sets the tolerations.
func roomFor(d stockpool.Declaration, rooms []stockpool.Room, err error) reason.Reasons {
	if err != nil {
		return reason.Reasons{reason.RoomsUnknown(reason.Failure(err))}
	}
	rooms = slices.DeleteFunc(slices.Clone(rooms), func(r stockpool.Room) bool { return r.ClusterUID != d.ClusterUID })
	if len(rooms) == 0 {
		return reason.Reasons{reason.NoSpotPoolGrows()}
	}
	fit := slices.DeleteFunc(rooms, func(r stockpool.Room) bool { return !fits(d, r) })
	if len(fit) == 0 {
		var asked []string
		for _, key := range slices.Sorted(maps.Keys(d.NodeSelector)) {
			asked = append(asked, key+"="+d.NodeSelector[key])
		}
		needs := reason.Word("nodes.expected_labels")
		if slices.ContainsFunc(slices.Collect(maps.Keys(d.NodeSelector)), isInstanceType) {
			needs = "nodes.expected_labels and an offering"
		}
		return reason.Reasons{reason.NoSpotPoolFits(needs, reason.NewValue(strings.Join(asked, ", ")))}
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
	var list reason.Reasons
	for n, r := range fit {
		if n == roomsAtMost {
			return append(list, reason.MoreRooms(reason.Count(len(fit)-n)))
		}
		list = append(list, roomReason(r, instanceType(d, r)))
	}
	return list
}

// roomReason reports whether the spot pool grows, or why it does not. only is the instance type
// that the pods need; empty if any will do.
func roomReason(r stockpool.Room, only string) reason.Reason {
	object := reason.Object("spot_pool/" + r.Pool)
	fit := reason.RoomFits(object)
	if only != "" {
		fit = reason.RoomFitsType(object, reason.Word(only))
	}
	switch {
	case r.Why == "":
		return reason.RoomUnknown(fit, object)
	case r.Grows:
		return reason.RoomGrows(fit, reason.NewForeign(r.Why))
	}
	return reason.RoomStays(fit, reason.NewForeign(r.Why))
}

// fits reports whether nodes of a spot pool match the pods' node selector. Of the labels that
// the kubelet sets, only the instance type is checked: offerings name it.
func fits(d stockpool.Declaration, r stockpool.Room) bool {
	for key, value := range d.NodeSelector {
		has, named := r.Labels[key]
		switch {
		case named && has != value, !named && !isNodeOwned(key):
			return false
		case !named && isInstanceType(key) && !slices.Contains(r.InstanceTypes, value):
			return false
		}
	}
	return true
}

// instanceType returns the instance type that the pods need, if the spot pool has other types
// as well.
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

// isNodeOwned reports whether the kubelet or cloud-controller-manager sets a label.
func isNodeOwned(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return slices.Contains([]string{"kubernetes.io", "node.kubernetes.io", "topology.kubernetes.io", "beta.kubernetes.io", "failure-domain.beta.kubernetes.io"},
		domain)
}
