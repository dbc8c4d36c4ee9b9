package reason

import "errors"

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

// Of returns the reason that an error is; zero if it is none, or if it says more than the reason that it wraps.
func Of(err error) Reason {
	var of explained
	if errors.As(err, &of) && of.Error() == err.Error() {
		return of.Because()
	}
	return Reason{}
}

// Remedy returns what to do about an error, or about the one that it wraps; empty if neither has a reason with a remedy.
func Remedy(err error) string {
	var of explained
	if errors.As(err, &of) {
		return Renderer{}.Remedy(of.Because())
	}
	return ""
}
