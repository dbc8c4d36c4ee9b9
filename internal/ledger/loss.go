package ledger

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
)

// Loss is a document of the ledger that could not be read. Its name is not used
// again, so that a copy that is put back undoes the loss.
type Loss struct {
	Document string `json:"document"`
	// From and To are when the intervals ended that it held.
	From      Time   `json:"from_ms"`
	To        Time   `json:"to_ms"`
	Intervals int    `json:"intervals,omitempty"` // that it held, where the header tells; else 0
	Reason    string `json:"reason"`
	// Accepted says that a person goes on without it; zero where nobody does.
	Accepted Acceptance `json:"accepted,omitzero"`
}

// Acceptance is a person's word that what is missing of the ledger stays so, and
// holds nothing back any more.
type Acceptance struct {
	At     Time   `json:"at_ms"`
	Reason string `json:"reason"`
}

// Given says whether there is one.
func (a Acceptance) Given() bool { return a.At != 0 }

// compare orders acceptances, one before none and the earlier before the later.
func (a Acceptance) compare(b Acceptance) int {
	if a.Given() != b.Given() {
		return prefer(a.Given())
	}
	return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Reason, b.Reason))
}

// Forgone is that what the ledger lacks before a moment is accepted: the time
// before it began, and what retention dropped.
type Forgone struct {
	Before Time `json:"before_ms"`
	Acceptance
}

// compare orders these by how much they accept.
func (f Forgone) compare(g Forgone) int {
	return cmp.Or(cmp.Compare(g.Before, f.Before), f.Acceptance.compare(g.Acceptance))
}

// Accept accepts all that is missing of the ledger by now, and returns what was
// lost and had not been accepted.
func (l *Ledger) Accept(a Acceptance) []Loss {
	var accepted []Loss
	l.Header.Lost = slices.Clone(l.Header.Lost)
	for n := range l.Header.Lost {
		if loss := &l.Header.Lost[n]; !loss.Accepted.Given() {
			loss.Accepted = a
			accepted = append(accepted, *loss)
		}
	}
	if first := l.Header.KnownSince(); first > l.Header.Forgone.Before {
		l.Header.Forgone = Forgone{Before: first, Acceptance: a}
	}
	return accepted
}

// Unaccepted are the documents that are lost and not accepted: those of the
// problems that Load returned, and those that earlier runs recorded.
func (l *Ledger) Unaccepted(problems []Problem) []Problem {
	list := slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return p.Loss != nil && p.Loss.Accepted.Given() })
	for _, loss := range l.Header.Lost {
		if !loss.Accepted.Given() && !slices.ContainsFunc(problems, func(p Problem) bool { return p.Document == loss.Document }) {
			list = append(list, Problem{Document: loss.Document, Err: errors.New(loss.Reason), Loss: &loss})
		}
	}
	return list
}

// KnownSince is from when on the ledger knows all but what was lost.
func (h Header) KnownSince() Time { return max(h.Began, h.KeptSince) }

// LostSince are what of the time since a moment was lost and is not accepted.
func (h Header) LostSince(from Time) []Loss {
	var lost []Loss
	for _, loss := range h.Lost {
		if loss.To > from && !loss.Accepted.Given() {
			lost = append(lost, loss)
		}
	}
	return lost
}

// EndsLost says whether losses may include that pods ended, so that these count
// for longer: the records of recent ends and the closed ones are both in them. Any
// other loss takes records away, and with them usage.
func EndsLost(lost []Loss) bool {
	recent, closed := false, false
	for _, loss := range lost {
		p, known := document.ParsePart(loss.Document)
		recent = recent || known && p.Kind == document.Recent
		closed = closed || known && p.Closed()
	}
	return recent && closed
}

// mergeLosses brings losses into order, each document's once, and accepted where
// anyone accepted it.
func mergeLosses(lost []Loss) []Loss {
	slices.SortFunc(lost, func(a, b Loss) int {
		return cmp.Or(
			strings.Compare(a.Document, b.Document), a.Accepted.compare(b.Accepted), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To),
			cmp.Compare(b.Intervals, a.Intervals), strings.Compare(a.Reason, b.Reason),
		)
	})
	return slices.CompactFunc(lost, func(a, b Loss) bool { return a.Document == b.Document })
}
