package gpu

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// The annotations by which KAI and Run:ai hand out fractions of GPUs: the pod
// itself requests no resource, a reservation pod in a namespace of theirs does
// (KAI-Scheduler, docs/gpu-sharing).
const (
	fractionAnnotation        = "gpu-fraction"
	fractionMemoryAnnotation  = "gpu-memory" // MiB
	fractionDevicesAnnotation = "gpu-fraction-num-devices"
)

// reservationNamespaces are where pods hold GPUs on behalf of others, whose
// fractions are what counts.
var reservationNamespaces = []string{"kai-resource-reservation", "runai-reservation"}

// ReservationNamespaces are where pods hold GPUs on behalf of others: they are
// not counted, those others are.
func ReservationNamespaces() []string { return slices.Clone(reservationNamespaces) }

func isReservation(pod *corev1.Pod) bool {
	return slices.Contains(reservationNamespaces, pod.Namespace)
}

var (
	decimalText = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,9})?$`)
	countText   = regexp.MustCompile(`^[0-9]{1,3}$`)
)

// groupLabel names the group of fractions that share one GPU. The binder of KAI
// and of Run:ai writes it on a pod when it binds it, with a suffix for each of
// several GPUs, and on the pod that reserves the GPU for the group
// (kai-scheduler/KAI-Scheduler, pkg/binder/binding/resourcereservation, updatePodGPUGroup
// and createGPUReservationPod; MultiGpuGroupLabelPrefix).
const (
	groupLabel       = "runai-gpu-group"
	groupLabelPrefix = groupLabel + "/"
)

// ReservationLabel is that of the pods by which GPUs are reserved.
const ReservationLabel = groupLabel

// ReservationOf says on which node a pod reserves a GPU, and for which group: one
// of the scheduler's, in a namespace of its own, that the kubelet took and did
// not refuse.
func ReservationOf(pod *corev1.Pod) (node, group string, ok bool) {
	group = pod.Labels[groupLabel]
	v := interval{pod: pod}
	if group == "" || !isReservation(pod) || !v.taken() || v.rejected() {
		return "", "", false
	}
	return pod.Spec.NodeName, group, true
}

// reserved is of how many GPUs the pod has a fraction: labels and annotations are
// the tenant's own word, and so each GPU must be reserved on the pod's node for a
// group that the pod names. A pod that is not bound has none yet, and asks for all.
func (y *tally) reserved(devices int64, w World) int64 {
	switch {
	case y.node.Name == "":
		return devices
	case w.Reserved == nil:
		y.unsure = true
		return devices
	}
	groups := map[string]bool{}
	for key, group := range y.pod.Labels {
		if (key == groupLabel || strings.HasPrefix(key, groupLabelPrefix)) && w.Reserved(y.node.Name, group) {
			groups[group] = true
		}
	}
	y.groups = sortedKeys(groups)
	y.groups = y.groups[:min(int64(len(groups)), devices)]
	if found := int64(len(groups)); found < devices {
		y.capped = true
		if (interval{pod: y.pod}).terminal() {
			return found // its reservations may have gone with it
		}
		y.doubts.addf("it asks for a fraction of %d GPUs by annotation, and on its node %s %d are reserved for it by the scheduler of fractions: "+
			"counted as these", devices, y.node.Name, found)
		return found
	}
	return devices
}

// parted tells of the GPUs one by one of which the pod has fractions. Labels are
// copied easily, and all pods of a group have that one GPU together.
func (y *tally) parted(shares []ledger.Share) []ledger.Share {
	n := slices.IndexFunc(shares, func(s ledger.Share) bool { return s.Resource == fractionAnnotation })
	if n < 0 || len(y.groups) == 0 {
		return shares
	}
	s, parts := shares[n], make([]ledger.Share, 0, len(y.groups))
	s.Whole, s.Units = one, new(big.Rat).Mul(s.Units, big.NewRat(1, int64(len(y.groups))))
	for _, group := range y.groups {
		s.Claim = y.node.Name + "/" + group
		parts = append(parts, s)
	}
	return slices.Replace(shares, n, n+1, parts...)
}

// fraction counts a fraction by annotation, as GPUs. It says nothing about a pod
// that has GPUs by request or by claim: there the scheduler refuses it.
func (y *tally) fraction(held amounts, w World) {
	a := y.pod.Annotations
	text, byFraction := a[fractionAnnotation]
	memoryText, byMemory := a[fractionMemoryAnnotation]
	if !byFraction && !byMemory {
		return
	}
	weight := one
	if own, ok := y.table.own[fractionAnnotation]; ok {
		weight = own
	}
	if weight.Sign() == 0 {
		return
	}
	devices := int64(1)
	if n, ok := a[fractionDevicesAnnotation]; ok {
		devices, _ = strconv.ParseInt(n, 10, 64) // zero where it is no number
		if !countText.MatchString(n) || devices == 0 {
			y.doubts.losef("its annotation %s is %q, no number of devices: counted as none", fractionDevicesAnnotation, clip(n))
			return
		}
	}
	part, ok := y.fractionOf(text, memoryText, byFraction)
	if !ok {
		return
	}
	if devices = y.reserved(devices, w); devices == 0 {
		return
	}
	units := new(big.Rat).Mul(part, new(big.Rat).SetInt64(devices))
	held.add(fractionAnnotation, units, new(big.Rat).Mul(units, weight))
}

// fractionOf is the part of each device.
func (y *tally) fractionOf(fraction, memory string, byFraction bool) (*big.Rat, bool) {
	name, text := fractionAnnotation, fraction
	if !byFraction {
		name, text = fractionMemoryAnnotation, memory
	}
	value, ok := new(big.Rat).SetString(text)
	if !decimalText.MatchString(text) || !ok || value.Sign() == 0 {
		y.doubts.losef("its annotation %s is %q, no positive number: counted as none", name, clip(text))
		return nil, false
	}
	if !byFraction {
		card := y.node.devices().Memory
		if card == 0 {
			y.unknownMemory("the annotation "+name, "it is counted as the whole card's")
			return one, true
		}
		value.Quo(value, new(big.Rat).SetInt64(card))
	}
	if value.Cmp(one) > 0 {
		if byFraction {
			y.doubts.addf("its annotation %s is %q, more than one: counted as one", name, clip(text))
		}
		return one, true
	}
	return value, true
}
