// Package notification decides what messages tell people about the events of pools and budgets. It
// does no IO: package notify sends, and package reconcile/notifications keeps the journals.
package notification

import (
	"fmt"
	"path"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// Declaration is the desired state of one notification. Its JSON keys are the names of the
// resource's arguments.
type Declaration struct {
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Generation int64  `json:"generation"`
	Type       Type   `json:"type"`

	// URL and Secret are write-only: Terraform keeps them in no state and no plan. A new version
	// marks a change. URL is empty for the default of a type that has one.
	URL           string `json:"url_wo,omitempty"`
	URLVersion    int64  `json:"url_wo_version,omitempty"`
	Secret        string `json:"secret_wo,omitempty"`
	SecretVersion int64  `json:"secret_wo_version,omitempty"`

	// Events are the kinds of events, DefaultEvents if empty. Objects are names or globs, such as
	// "budget/team-*"; empty selects all. Thresholds select the alert thresholds, in percent; empty
	// selects all.
	Events     []history.Kind `json:"events,omitempty"`
	Objects    []string       `json:"objects,omitempty"`
	Thresholds []int          `json:"thresholds,omitempty"`
	// Digest is how long events are collected for one message, such as "15m". If empty, a run sends
	// its events at once.
	Digest string `json:"digest,omitempty"`
	// QuietHours delay messages that are not critical.
	QuietHours *QuietHours `json:"quiet_hours,omitempty"`
	// TimeZone is that of quiet hours and of times in messages, such as "Asia/Shanghai". Default: UTC.
	TimeZone string `json:"time_zone,omitempty"`
	// PageURL is the address of gpupool serve, for links.
	PageURL string `json:"page_url,omitempty"`
}

// Type is the receiver's protocol.
type Type string

// The types.
const (
	Slack        Type = "slack"
	Teams        Type = "teams" // Microsoft Teams, by a workflow
	WeCom        Type = "wecom"
	DingTalk     Type = "dingtalk"
	Feishu       Type = "feishu"
	PagerDuty    Type = "pagerduty" // Events API v2
	Alertmanager Type = "alertmanager"
	Webhook      Type = "webhook" // CloudEvents
)

// Types returns all types.
func Types() []Type {
	return []Type{Slack, Teams, WeCom, DingTalk, Feishu, PagerDuty, Alertmanager, Webhook}
}

// Alerts reports whether the receiver keeps alerts that fire and are resolved. A repeated request
// changes nothing there.
func (t Type) Alerts() bool { return t == PagerDuty || t == Alertmanager }

// Idempotent reports whether the receiver recognizes a repeated request.
func (t Type) Idempotent() bool { return t.Alerts() || t == Webhook }

// QuietHours are the hours of each day in which only critical events are sent.
type QuietHours struct {
	Start string `json:"start"` // "22:00"
	End   string `json:"end"`   // "07:00", on the next day if it is earlier than the start
}

var defaultEvents = []history.Kind{
	history.Threshold, history.Exceeded, history.Recovered, history.GateClosed, history.GateOpened, history.Suspend, history.Unsuspend,
	history.Failed, history.RunFailed, history.Loss,
}

// DefaultEvents returns the kinds of events of a notification without any.
func DefaultEvents() []history.Kind { return slices.Clone(defaultEvents) }

// Key is the name of the record in the store.
func (d Declaration) Key() string { return d.Name }

// Object is the name in reports and locks.
func (d Declaration) Object() string { return "notification/" + d.Name }

// Identity returns the UID and the generation.
func (d Declaration) Identity() (uid string, generation int64) { return d.UID, d.Generation }

// WithIdentity returns the declaration with a UID and a generation.
func (d Declaration) WithIdentity(uid string, generation int64) Declaration {
	d.UID, d.Generation = uid, generation
	return d
}

// Kinds are the kinds of events that it reports. To a receiver of alerts, it reports the end of each
// condition whose beginning it reports.
func (d Declaration) Kinds() []history.Kind {
	return slices.DeleteFunc(history.Kinds(), func(k history.Kind) bool { return !d.reports(k) })
}

func (d Declaration) reports(k history.Kind) bool {
	kinds := d.Events
	if len(kinds) == 0 {
		kinds = defaultEvents
	}
	begins, ends := endings[k]
	return slices.Contains(kinds, k) || ends && d.Type.Alerts() && slices.Contains(kinds, begins)
}

// Selects reports whether it reports an event.
func (d Declaration) Selects(e *history.Event) bool {
	if e.Kind == history.Threshold && len(d.Thresholds) > 0 && !slices.Contains(d.Thresholds, e.Threshold) {
		return false
	}
	return d.reports(e.Kind) && d.about(e.Object)
}

func (d Declaration) about(object string) bool {
	return len(d.Objects) == 0 || slices.ContainsFunc(d.Objects, func(name string) bool {
		fits, err := path.Match(name, object)
		return err == nil && fits
	})
}

// WithWriteOnly returns the declaration with the recorded write-only values, unless their version
// changed. The error reports that neither has a value.
func (d Declaration) WithWriteOnly(recorded Declaration) (Declaration, error) {
	for _, v := range []struct {
		name          string
		value         *string
		recorded      string
		version, last int64
	}{
		{"url_wo", &d.URL, recorded.URL, d.URLVersion, recorded.URLVersion},
		{"secret_wo", &d.Secret, recorded.Secret, d.SecretVersion, recorded.SecretVersion},
	} {
		switch {
		case v.version == 0:
			*v.value = ""
		case v.version == v.last && v.recorded != "":
			*v.value = v.recorded
		case *v.value == "":
			return d, fmt.Errorf("the store has version %[4]d of %[1]s of %[2]s, not %[3]d: run terraform apply with a configuration that sets %[1]s",
				v.name, d.Object(), v.version, v.last)
		}
	}
	return d, nil
}
