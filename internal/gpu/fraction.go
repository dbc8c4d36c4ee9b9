package gpu

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// KAI and Run:ai assign fractions of GPUs by these annotations. The pod itself requests no
// resource; a reservation pod in a namespace of theirs does (KAI-Scheduler, docs/gpu-sharing).
const (
	fractionAnnotation        = "gpu-fraction"
	fractionMemoryAnnotation  = "gpu-memory" // MiB
	fractionDevicesAnnotation = "gpu-fraction-num-devices"
)

// reservationNamespaces contain the pods that reserve GPUs for fractions. The fractions count
// instead.
var reservationNamespaces = []string{"kai-resource-reservation", "runai-reservation"}

// ReservationNamespaces returns the namespaces of pods that reserve GPUs for fractions. These pods
// do not count, the fractions do.
func ReservationNamespaces() []string { return slices.Clone(reservationNamespaces) }

func isReservation(pod *corev1.Pod) bool {
	return slices.Contains(reservationNamespaces, pod.Namespace)
}

var (
	decimalText = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,9})?$`)
	countText   = regexp.MustCompile(`^[0-9]{1,3}$`)
)

// groupLabel names the group of fractions that share one GPU. The binder of KAI and of Run:ai
// writes it on a pod when it binds it, with a suffix for each of several GPUs. It also writes it on
// the pod that reserves the GPU for the group. Source: kai-scheduler/KAI-Scheduler,
// pkg/binder/binding/resourcereservation (updatePodGPUGroup, createGPUReservationPod,
// MultiGpuGroupLabelPrefix).
const (
	groupLabel       = "runai-gpu-group"
	groupLabelPrefix = groupLabel + "/"
)

// ReservationLabel is the label of pods that reserve GPUs.
const ReservationLabel = groupLabel

// ReservationOf returns the node and the group for which a pod reserves a GPU. The pod must be in a
// reservation namespace, its kubelet must have accepted it, and it must not be a static pod.
func ReservationOf(pod *corev1.Pod) (node, group string, ok bool) {
	group = pod.Labels[groupLabel]
	v := interval{pod: pod}
	if group == "" || !isReservation(pod) || isMirror(pod) || !v.taken() || v.rejected() {
		return "", "", false
	}
	return pod.Spec.NodeName, group, true
}

// reserved returns of how many GPUs the pod has a fraction. The tenant writes the labels and
// annotations, so each GPU must be reserved on the pod's node for a group that the pod names. A pod
// that is not bound has none yet, and requests all.
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
			return found // its reservations may have been deleted with it
		}
		y.doubts.add(reason.FractionNotReserved(reason.Count(devices), reason.Count(found), y.at()))
		return found
	}
	return devices
}

// splitByGPU splits fractions by GPU. Anyone can copy labels; all pods of a group have that one GPU
// together.
func (y *tally) splitByGPU(shares []ledger.Share) []ledger.Share {
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

// fraction counts a fraction by annotation, as GPUs. It ignores a pod that has GPUs by request or
// by claim, since the scheduler rejects the fraction there.
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
		devices, _ = strconv.ParseInt(n, 10, 64) // zero if invalid
		if !countText.MatchString(n) || devices == 0 {
			y.doubts.recordLoss(reason.FractionDevicesInvalid(fractionDevicesAnnotation, reason.Quoted(clip(n))))
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

func (y *tally) fractionOf(fraction, memory string, byFraction bool) (*big.Rat, bool) {
	name, text := fractionAnnotation, fraction
	if !byFraction {
		name, text = fractionMemoryAnnotation, memory
	}
	value, ok := new(big.Rat).SetString(text)
	if !decimalText.MatchString(text) || !ok || value.Sign() == 0 {
		y.doubts.recordLoss(reason.FractionInvalid(reason.Word(name), reason.Quoted(clip(text))))
		return nil, false
	}
	if !byFraction {
		card := y.node.devices().Memory
		if card == 0 {
			y.unknownMemory(reason.MemoryUnknownWhole, name)
			return one, true
		}
		value.Quo(value, new(big.Rat).SetInt64(card))
	}
	if value.Cmp(one) > 0 {
		if byFraction {
			y.doubts.add(reason.FractionAboveOne(reason.Quoted(clip(text))))
		}
		return one, true
	}
	return value, true
}
