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

// Of returns the reason that an error is; zero if it is none, or if it says more than the reason that it wraps.
func Of(err error) Reason {
	var of interface {
		error
		Because() Reason
	}
	if errors.As(err, &of) && of.Error() == err.Error() {
		return of.Because()
	}
	return Reason{}
}
