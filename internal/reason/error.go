package reason

import (
	"errors"
	"strings"
)

// Error is an error that a reason explains.
type Error struct {
	Reason Reason
	// Err is the cause, if that is an error as well.
	Err error
}

// Error returns the text and the remedy.
func (e *Error) Error() string { return e.Reason.String() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Because returns the reason of an error.
func (e *Error) Because() Reason { return e.Reason }

// explained is an error with a reason.
type explained interface {
	error
	Because() Reason
}

// FailedWhile is a reason with what was being done.
var FailedWhile = two[Foreign, Reason]("failed_while", Warning, "{doing}: {why}", "{why}")

// Of returns the reason that an error is, or that it ends with after a colon; zero if there is none.
func Of(err error) Reason {
	var of explained
	if !errors.As(err, &of) {
		return Reason{}
	}
	if of.Error() == err.Error() {
		return of.Because()
	}
	if doing, ends := strings.CutSuffix(err.Error(), ": "+of.Error()); ends {
		return FailedWhile(NewForeign(doing), of.Because())
	}
	return Reason{}
}

// Remedy returns what to do about an error, or about the one that it wraps; empty if neither has a reason with a remedy.
func Remedy(err error) string {
	for of := explained(nil); errors.As(err, &of); err = errors.Unwrap(of) {
		if todo := (Renderer{}).Remedy(of.Because()); todo != "" {
			return todo
		}
	}
	return ""
}
