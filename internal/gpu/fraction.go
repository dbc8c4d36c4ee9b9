package gpu

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
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

// fraction counts a fraction by annotation, as GPUs. It says nothing about a pod
// that has GPUs by request or by claim: there the scheduler refuses it.
func (y *tally) fraction(held amounts) {
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
