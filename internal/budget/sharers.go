package budget

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Sharers are the pods that hold by claims which others may hold as well. At each
// moment what a claim holds is divided equally among the pods that hold it then:
// from when they were scheduled until their ends, whatever of that a budget
// counts. So it makes no difference when each was first seen, and nothing is
// counted twice.
type Sharers struct {
	records []ledger.Record
	pods    map[string]bool // by UID
	claims  map[string]*headcount
}

// SharersOf finds those among records who hold by claims.
func SharersOf(records iter.Seq[*ledger.Record]) *Sharers {
	s := newSharers()
	for r := range records {
		if isShared(r) {
			s.add(r)
		}
	}
	s.settle()
	return s
}

func newSharers() *Sharers { return &Sharers{pods: map[string]bool{}, claims: map[string]*headcount{}} }

// isShared says whether some of what the pod holds is held by a claim.
func isShared(r *ledger.Record) bool { return r.Held != nil && r.Held.Shared() }

// headcount is how many pods hold a claim, and from when on: by each of the
// places in its range where an estimated end may be taken to be.
type headcount struct {
	counts [3][]count
	// shared says that two held it at once, and doubtful that some pod's end is
	// estimated.
	shared, doubtful bool
}

// count is how many pods there are from a moment on; and by how many more than
// before, until all are known.
type count struct {
	from ledger.Time
	pods int
}

// placeOf is where a policy's counts are.
func placeOf(p ledger.VanishedPolicy) int {
	switch p {
	case ledger.AtLastRun:
		return 0
	case ledger.AtNow:
		return 2
	}
	return 1
}

// add takes up a pod that holds by claims.
func (s *Sharers) add(r *ledger.Record) {
	s.records = append(s.records, *r)
	s.pods[r.UID] = true
	for n, share := range r.Held.Shares {
		if share.Claim == "" || slices.ContainsFunc(r.Held.Shares[:n], func(before ledger.Share) bool { return before.Claim == share.Claim }) {
			continue
		}
		heads := s.claims[share.Claim]
		if heads == nil {
			heads = new(headcount)
			s.claims[share.Claim] = heads
		}
		heads.doubtful = heads.doubtful || r.End.Estimated()
		for _, policy := range []ledger.VanishedPolicy{ledger.AtLastRun, ledger.AtMidpoint, ledger.AtNow} {
			counts, end := &heads.counts[placeOf(policy)], r.End.Point(policy)
			if r.Open() {
				*counts = append(*counts, count{r.Start.At, 1})
			} else if end > r.Start.At {
				*counts = append(*counts, count{r.Start.At, 1}, count{end, -1})
			}
		}
	}
}

// settle turns changes into counts.
func (s *Sharers) settle() {
	for _, heads := range s.claims {
		for n, changes := range heads.counts {
			slices.SortFunc(changes, func(a, b count) int { return cmp.Compare(a.from, b.from) })
			counts, pods := changes[:0], 0
			for i, change := range changes {
				pods += change.pods
				heads.shared = heads.shared || pods > 1
				if i+1 == len(changes) || changes[i+1].from > change.from {
					counts = append(counts, count{change.from, pods})
				}
			}
			heads.counts[n] = slices.CompactFunc(counts, func(a, b count) bool { return a.pods == b.pods })
		}
	}
}

// divides says whether anything that the pod holds was ever held by another at
// the same time.
func (s *Sharers) divides(r *ledger.Record) bool {
	return s != nil && slices.ContainsFunc(r.Held.Shares, func(share ledger.Share) bool {
		heads := s.claims[share.Claim]
		return heads != nil && heads.shared
	})
}

// doubts says whether it is estimated until when some pod held a claim.
func (s *Sharers) doubts(claim string) bool {
	return s != nil && s.claims[claim] != nil && s.claims[claim].doubtful
}

// never is after all moments.
const never ledger.Time = math.MaxInt64

// at is how many pods hold a claim at a moment, and until when.
func (s *Sharers) at(claim string, place int, at ledger.Time) (pods int, until ledger.Time) {
	until = never
	if s == nil || s.claims[claim] == nil {
		return 0, until
	}
	counts := s.claims[claim].counts[place]
	n, found := slices.BinarySearchFunc(counts, at, func(c count, at ledger.Time) int { return cmp.Compare(c.from, at) })
	if found {
		n++
	}
	if n < len(counts) {
		until = counts[n].from
	}
	if n == 0 {
		return 0, until
	}
	return counts[n-1].pods, until
}
