package ledger

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
)

// Loss is a document of the ledger that could not be read. Its name is not used again, so that
// restoring a backup undoes the loss.
type Loss struct {
	Document string `json:"document"`
	// From and To bound the ends of the lost intervals.
	From      Time   `json:"from_ms"`
	To        Time   `json:"to_ms"`
	Intervals int    `json:"intervals,omitempty"` // if the header lists the document; else 0
	Reason    string `json:"reason"`
	// Accepted says that you decided to continue without the document; zero if not.
	Accepted Acceptance `json:"accepted,omitzero"`
}

// Acceptance is an operator's decision that missing parts of the ledger stay missing and no longer
// block anything.
type Acceptance struct {
	At     Time   `json:"at_ms"`
	Reason string `json:"reason"`
}

// IsSet reports whether there is an acceptance.
func (a Acceptance) IsSet() bool { return a.At != 0 }

// compare orders acceptances: none last, then by time.
func (a Acceptance) compare(b Acceptance) int {
	if a.IsSet() != b.IsSet() {
		return prefer(a.IsSet())
	}
	return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Reason, b.Reason))
}

// Forgone accepts that the ledger lacks the time before a moment: before it began, or before its
// retention.
type Forgone struct {
	Before Time `json:"before_ms"`
	Acceptance
}

// compare orders by how much is accepted, the most first.
func (f Forgone) compare(g Forgone) int {
	return cmp.Or(cmp.Compare(g.Before, f.Before), f.Acceptance.compare(g.Acceptance))
}

// Accept accepts everything that is missing by now, and returns the losses that had not been
// accepted before.
func (l *Ledger) Accept(a Acceptance) []Loss {
	var accepted []Loss
	l.Header.Lost = slices.Clone(l.Header.Lost)
	for n := range l.Header.Lost {
		if loss := &l.Header.Lost[n]; !loss.Accepted.IsSet() {
			loss.Accepted = a
			accepted = append(accepted, *loss)
		}
	}
	if first := l.Header.KnownSince(); first > l.Header.Forgone.Before {
		l.Header.Forgone = Forgone{Before: first, Acceptance: a}
	}
	return accepted
}

// Unaccepted returns the lost documents that are not accepted: those of the problems that Load
// returned, and those that earlier runs recorded.
func (l *Ledger) Unaccepted(problems []Problem) []Problem {
	list := slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return p.Loss != nil && p.Loss.Accepted.IsSet() })
	for _, loss := range l.Header.Lost {
		if !loss.Accepted.IsSet() && !slices.ContainsFunc(problems, func(p Problem) bool { return p.Document == loss.Document }) {
			list = append(list, Problem{Document: loss.Document, Err: errors.New(loss.Reason), Loss: &loss})
		}
	}
	return list
}

// KnownSince returns from when on the ledger is complete, apart from losses.
func (h Header) KnownSince() Time { return max(h.Began, h.KeptSince) }

// LostSince returns the unaccepted losses of the time since a moment.
func (h Header) LostSince(from Time) []Loss {
	var lost []Loss
	for _, loss := range h.Lost {
		if loss.To > from && !loss.Accepted.IsSet() {
			lost = append(lost, loss)
		}
	}
	return lost
}

// EndsLost reports whether the losses may include ends of pods, so that these pods count for
// longer. That needs both a document of recent records and a closed one. Any other loss only
// removes records and their usage.
func EndsLost(lost []Loss) bool {
	recent, closed := false, false
	for _, loss := range lost {
		p, known := document.ParsePart(loss.Document)
		recent = recent || known && p.Kind == document.Recent
		closed = closed || known && p.Closed()
	}
	return recent && closed
}

// mergeLosses sorts losses, one per document. A loss is accepted if either copy is.
func mergeLosses(lost []Loss) []Loss {
	slices.SortFunc(lost, func(a, b Loss) int {
		return cmp.Or(
			strings.Compare(a.Document, b.Document), a.Accepted.compare(b.Accepted), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To),
			cmp.Compare(b.Intervals, a.Intervals), strings.Compare(a.Reason, b.Reason),
		)
	})
	return slices.CompactFunc(lost, func(a, b Loss) bool { return a.Document == b.Document })
}
