package cvmsim

import "time"

// call is one API call while it runs.
type call struct {
	Region    string
	now       time.Time
	requestID string
	identity  identity
	account   account
	fate      launchFate
	record    *Call
}
