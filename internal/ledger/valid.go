package ledger

import (
	"fmt"
	"math/big"
	"slices"
)

// lastMoment is the end of the year 9999, the latest valid time.
const lastMoment Time = 253_402_300_799_999

// maxText limits the length of a UID or a name in bytes. Those of Kubernetes have at most 253.
const maxText = 253

// normalize sets defaults and validates.
func (r *Record) normalize() error {
	if r.Set == nil {
		r.Set = &LabelSet{}
	}
	if r.Allocation == nil {
		r.Allocation = &Allocation{}
	}
	if r.Place == nil {
		r.Place = &Place{}
	}
	if r.PlaceSeen == 0 {
		r.PlaceSeen = r.Seen
	}
	if r.AllocationSeen == 0 {
		r.AllocationSeen = r.Seen
	}
	if r.Open() {
		r.End.Source = ""
	}
	if r.Runs.At == 0 {
		r.Runs.Source = ""
	}
	if problem := r.problem(); problem != "" {
		return fmt.Errorf("invalid ledger record of the pod %.80q (UID %.60q): %s", r.Set.Namespace+"/"+r.Name, r.UID, problem)
	}
	return nil
}

func (r *Record) problem() string {
	if r.UID == "" || len(r.UID) > maxText || len(r.Name) > maxText {
		return "its UID is missing, or its UID or name is too long"
	}
	if problem := r.Allocation.problem(); problem != "" {
		return problem
	}
	return r.intervalProblem()
}

func (r *Record) intervalProblem() string {
	for _, at := range [...]Time{r.Seen, r.PlaceSeen, r.AllocationSeen, r.Start.At} {
		if at <= 0 || at > lastMoment {
			return "the time of its observation or its start is not between 1970 and 9999 (UTC)"
		}
	}
	for _, at := range [...]Time{r.Runs.At, r.End.Earliest, r.End.At, r.Deletion} {
		if at < 0 || at > lastMoment {
			return "a time is not between 1970 and 9999 (UTC)"
		}
	}
	switch {
	case r.End.At != 0 && r.End.Earliest > r.End.At:
		return "the earliest end is after the end"
	case !r.End.Open() && endRank(r.End.Source) <= openRank, startRank(r.Start.Source) <= 0:
		return "unknown source of its start or end"
	case r.Runs.At != 0 && startRank(r.Runs.Source) <= 0:
		return "unknown source of its first container's start"
	}
	return ""
}

// maxBits limits the length of the numerators and denominators of shares.
const maxBits = 256

// maxClaim limits the name of a claim: the names of a node and of a group of pods that share a GPU
// there.
const maxClaim = 2 * maxText

// mostShown is more than any node reports.
const mostShown = 1 << 16

func (a *Allocation) problem() string {
	if a.Shown < 0 || a.Shown > mostShown {
		return "the node's confirmation of its allocation is out of range"
	}
	for _, share := range slices.Concat(a.Shares, a.Earlier) {
		if share.Units == nil || share.Weight == nil || share.Units.Sign() < 0 || share.Weight.Sign() < 0 {
			return "its allocation is missing or negative"
		}
		if len(share.Claim) > maxClaim {
			return "the name of a claim is too long"
		}
		if share.Whole != nil && (share.Whole.Sign() <= 0 || share.Claim == "") {
			return "the units of a claim are not positive, or the claim is missing"
		}
		for _, x := range []*big.Rat{share.Units, share.Weight, share.Whole} {
			if x != nil && max(x.Num().BitLen(), x.Denom().BitLen()) > maxBits {
				return "its allocation is out of range"
			}
		}
	}
	return ""
}
