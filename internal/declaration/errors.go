package declaration

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// NewerError reports a document of a newer gpupool. Whatever depends on it must stop and not
// change it.
type NewerError struct {
	What    string // names the document or the resource
	Version int64  // the version that it was written with
	Field   string // a field that is unknown here, where the version is not
}

// Error names what was refused, and the remedy.
func (e *NewerError) Error() string {
	if e.Field != "" {
		return fmt.Sprintf("%s was written by a newer gpupool (it has the unknown field %.60q): upgrade gpupool", e.What, e.Field)
	}
	return fmt.Sprintf("%s was written by a newer gpupool (version %d of its form): upgrade gpupool", e.What, e.Version)
}

// OlderError reports a document in a form from before the first release, which is not read.
// Whatever depends on it must stop and not change it.
type OlderError struct {
	What    string // names the document
	Kind    string // that it was expected to be
	Version int64  // that it was written with
}

// Error names the document, and the remedy.
func (e *OlderError) Error() string {
	return fmt.Sprintf("%s was written by an older gpupool (version %d of its form, which this one does not read); nothing was changed: %s",
		e.What, e.Version, olderRemedy(e.Kind))
}

// olderRemedy returns what to do about a document of an older form, so that nothing is launched
// twice, and no enforcement stays unknown.
func olderRemedy(kind string) string {
	switch kind {
	case spotPoolKind:
		return "run terraform destroy with the gpupool that wrote it. To keep its instances instead, move it and its journal away, and wait 10 " +
			"minutes, until each earlier launch is listed. Then run terraform state rm and terraform import"
	case budgetKind:
		return "move it away and run terraform apply, which writes it again. gpupool reconcile then warns of each freeze and pause that the " +
			"older one left"
	case pausesKind:
		return "start the workloads in it again, and move it away"
	case grantsKind, holdsKind:
		return "move it away, and set its grants or holds again"
	case jobKind:
		return "move it away, and submit its request again"
	case tombstoneKind:
		return "move it away once no Terraform state has its object"
	}
	return strings.TrimPrefix(remedyOf(kind), "nothing was changed: ")
}

// DamagedError reports a document that no gpupool wrote. Whatever depends on it must stop and
// not change it.
type DamagedError struct {
	What   string // names the document
	Kind   string // of its envelope, where a remedy depends on it
	Reason string // never quotes the document
}

// Error names the document, what is wrong with it, and the remedy.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged (%s); %s", e.What, e.Reason, remedyOf(e.Kind))
}

// remedyOf is what to do about a document that can't be read.
func remedyOf(kind string) string {
	switch kind {
	case journalKind: // a copy lacks the launches made since
		return "nothing was changed: move it away, do not restore a copy, and run terraform apply or gpupool reconcile. The pool gets a new " +
			"journal, and launches nothing for 10 minutes, until each earlier launch is listed"
	case stockJournalKind:
		return "nothing was changed: restore it from a copy, or move it away. In the second case, run terraform destroy for this stock pool, " +
			"which keeps its Deployment, and then terraform import"
	case deliveriesKind: // a copy would report its events again
		return "nothing is sent: move it away. The next gpupool reconcile writes a new one, and reports later events"
	case jobKind:
		return "nothing was changed: restore it from a copy, or move it away and submit its request again"
	case statusKind, usageKind, poolStatusesKind, runSummaryKind, lastDayKind:
		return "nothing was changed: the next gpupool reconcile replaces it"
	}
	return "nothing was changed: restore it from a copy, or move it away and run terraform apply, which writes it again"
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
