package reason

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

// Of returns the reason that an error is, not one that it wraps; zero if it is none.
func Of(err error) Reason {
	if of, is := err.(interface{ Because() Reason }); is { //nolint:errorlint // the text around a wrapped one would be lost
		return of.Because()
	}
	return Reason{}
}
