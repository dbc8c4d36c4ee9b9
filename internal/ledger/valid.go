package ledger

import (
	"fmt"
	"math/big"
)

// lastMoment is the end of the year 9999, after which no time is taken for one.
const lastMoment Time = 253_402_300_799_999

// maxText is how long a UID or a name may be, in bytes. Those of Kubernetes have
// at most 253.
const maxText = 253

// normalise gives what is missing its neutral value, and says what cannot be.
func (r *Record) normalise() error {
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
		return fmt.Errorf("the ledger takes no record of the pod %.80q (UID %.60q): %s", r.Set.Namespace+"/"+r.Name, r.UID, problem)
	}
	return nil
}

func (r *Record) problem() string {
	if r.UID == "" || len(r.UID) > maxText || len(r.Name) > maxText {
		return "its UID is missing, or that or its name is too long"
	}
	if problem := r.Allocation.problem(); problem != "" {
		return problem
	}
	return r.intervalProblem()
}

func (r *Record) intervalProblem() string {
	for _, at := range [...]Time{r.Seen, r.PlaceSeen, r.AllocationSeen, r.Start.At} {
		if at <= 0 || at > lastMoment {
			return "when it was seen or started is not a time between 1970 and 9999"
		}
	}
	for _, at := range [...]Time{r.Runs.At, r.End.Earliest, r.End.At, r.Deletion} {
		if at < 0 || at > lastMoment {
			return "one of its times is not between 1970 and 9999"
		}
	}
	switch {
	case r.End.At != 0 && r.End.Earliest > r.End.At:
		return "its end is after itself"
	case !r.End.Open() && endRank(r.End.Source) <= openRank, startRank(r.Start.Source) <= 0:
		return "how its start or its end is known is not known"
	case r.Runs.At != 0 && startRank(r.Runs.Source) <= 0:
		return "how its first container's start is known is not known"
	}
	return ""
}

// maxBits is how long the numerators and denominators of shares may be.
const maxBits = 256

// maxClaim is how long the name of a claim may be: that of a node, and of a group of
// pods that share a GPU there.
const maxClaim = 2 * maxText

// mostShown is more than any node tells.
const mostShown = 1 << 16

func (a *Allocation) problem() string {
	if a.Shown < 0 || a.Shown > mostShown {
		return "by how much its node bears it out is no sensible number"
	}
	for _, share := range a.Shares {
		if share.Units == nil || share.Weight == nil || share.Units.Sign() < 0 || share.Weight.Sign() < 0 {
			return "what it holds is missing or below zero"
		}
		if len(share.Claim) > maxClaim {
			return "the name of a claim is too long"
		}
		if share.Whole != nil && (share.Whole.Sign() <= 0 || share.Claim == "") {
			return "all that a claim has is not above zero, or there is no claim"
		}
		for _, x := range []*big.Rat{share.Units, share.Weight, share.Whole} {
			if x != nil && max(x.Num().BitLen(), x.Denom().BitLen()) > maxBits {
				return "what it holds is no number of sensible size"
			}
		}
	}
	return ""
}
