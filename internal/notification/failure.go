package notification

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Failure is why a message was not delivered.
type Failure struct {
	// The code of the receiver, such as `45009` or `HTTP 403`.
	Code string `json:"code,omitempty"`
	// The message of the receiver, or the error of the connection, and the remedy.
	Reason reason.Reason `json:"reason"`
	// Whether the message may have arrived.
	Uncertain bool `json:"uncertain,omitempty"`
	// The time that the receiver asked for, which the next attempt respects.
	RetryAfter time.Duration `json:"-"`
}

// Because returns the reason after the code of the receiver.
func (f *Failure) Because() reason.Reason {
	if f.Code == "" {
		return f.Reason
	}
	return reason.OfReceiver(reason.NewForeign(f.Code), f.Reason)
}

// Error returns the code and the message.
func (f *Failure) Error() string { return words.Text(f.Because()) }

// Remedy returns what to do about it.
func (f *Failure) Remedy() string { return words.Remedy(f.Reason) }

// UnmarshalJSON reads what a run stored. An earlier version stored a message and a remedy, which have no codes.
func (f *Failure) UnmarshalJSON(data []byte) error {
	type fields Failure
	var doc struct {
		fields
		Message string `json:"message"`
		Remedy  string `json:"remedy"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	if *f = Failure(doc.fields); f.Reason.IsZero() {
		text := strings.TrimSuffix(doc.Message, ".") + ". " + doc.Remedy
		f.Reason = reason.OtherVersion(reason.NewForeign(strings.TrimRight(text, ". ")))
	}
	return nil
}
