package declaration

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// NewerError reports a document of a newer gpupool. Whatever depends on it must stop and not
// change it.
type NewerError struct {
	What    string // names the document or the resource
	Version int64  // the version that it was written with
	Field   string // a field that is unknown here, where the version is not
}

// Because names what was refused.
func (e *NewerError) Because() reason.Reason {
	if e.Field != "" {
		return reason.DocumentNewerField(reason.NewForeign(e.What), reason.NewForeign(strconv.Quote(e.Field)))
	}
	return reason.DocumentNewer(reason.NewForeign(e.What), reason.Count(e.Version))
}

// Error is Because as text.
func (e *NewerError) Error() string { return e.Because().String() }

// OlderError reports a document in a form from before the first release, which is not read.
// Whatever depends on it must stop and not change it.
type OlderError struct {
	What    string // names the document
	Kind    string // that it was expected to be
	Version int64  // that it was written with
}

// Because names the document. Its remedy launches nothing twice, and leaves no enforcement unknown.
func (e *OlderError) Because() reason.Reason {
	of, known := olderDocuments[e.Kind]
	if !known {
		of = reason.DocumentOlder
	}
	return of(reason.NewForeign(e.What), reason.Count(e.Version))
}

// Error is Because as text.
func (e *OlderError) Error() string { return e.Because().String() }

// olderDocuments are the reasons of documents of an older form, by their kind.
var olderDocuments = map[string]func(reason.Foreign, reason.Count) reason.Reason{
	spotPoolKind: reason.SpotPoolOlder, budgetKind: reason.BudgetOlder, pausesKind: reason.PausesOlder, grantsKind: reason.ExceptionsOlder,
	holdsKind: reason.ExceptionsOlder, jobKind: reason.JobOlder, tombstoneKind: reason.TombstoneOlder,
	journalKind: reason.JournalOlder, stockJournalKind: reason.StockJournalOlder, deliveriesKind: reason.DeliveriesOlder,
	statusKind: reason.StatusOlder, usageKind: reason.StatusOlder, poolStatusesKind: reason.StatusOlder, runSummaryKind: reason.StatusOlder,
	lastDayKind: reason.StatusOlder,
}

// DamagedError reports a document that no gpupool wrote. Whatever depends on it must stop and
// not change it.
type DamagedError struct {
	What   string // names the document
	Kind   string // of its envelope, where a remedy depends on it
	Reason string // never quotes the document
}

// Because names the document, and what is wrong with it.
func (e *DamagedError) Because() reason.Reason {
	of, known := damagedDocuments[e.Kind]
	if !known {
		of = reason.DocumentDamaged
	}
	return of(reason.NewForeign(e.What), reason.NewForeign(e.Reason))
}

// Error is Because as text.
func (e *DamagedError) Error() string { return e.Because().String() }

// damagedDocuments are the reasons of documents that can't be read, by their kind.
var damagedDocuments = map[string]func(document, damage reason.Foreign) reason.Reason{
	journalKind: reason.JournalDamaged, stockJournalKind: reason.StockJournalDamaged, deliveriesKind: reason.DeliveriesDamaged,
	jobKind: reason.JobDamaged, grantsKind: reason.ExceptionDamaged, holdsKind: reason.ExceptionDamaged,
	statusKind: reason.StatusDamaged, usageKind: reason.StatusDamaged, poolStatusesKind: reason.StatusDamaged,
	runSummaryKind: reason.StatusDamaged, lastDayKind: reason.StatusDamaged,
}

var errTrailing = errors.New("something follows where it should end")

// withoutValues describes invalid JSON without quoting it, since errors must not contain user
// data.
func withoutValues(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, errTrailing):
		return err
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case errors.As(err, &syntax):
		return syntaxWithoutValues(syntax)
	case errors.As(err, &kind):
		return fmt.Errorf("its field %q is of the wrong type", kind.Field)
	}
	if field, unknown := unknownField(err); unknown {
		return fmt.Errorf("it has an unknown field %.60q", field)
	}
	return errors.New("one of its values is not of the right form")
}

// syntaxWithoutValues distinguishes syntax errors by their text in encoding/json, the only way. If
// a text changes, the error is only less helpful.
func syntaxWithoutValues(err *json.SyntaxError) error {
	switch text := err.Error(); {
	case text == "unexpected end of JSON input":
		return errors.New("it ends too early")
	case strings.HasSuffix(text, "exceeded max depth"):
		return errors.New("it is nested too deeply")
	case strings.HasSuffix(text, "after top-level value"):
		return errTrailing
	}
	return fmt.Errorf("it is not valid JSON at byte %d", err.Offset)
}
