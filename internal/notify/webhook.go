package notify

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// cloudEvent is an event in the structured mode of CloudEvents 1.0.
type cloudEvent struct {
	SpecVersion string    `json:"specversion"`
	ID          string    `json:"id"`
	Source      string    `json:"source"`
	Type        string    `json:"type"`
	Subject     string    `json:"subject"`
	Time        time.Time `json:"time"`
	ContentType string    `json:"datacontenttype"`
	Data        eventData `json:"data"`
}

type eventData struct {
	notification.Line
	Notification string `json:"notification"`
	Summary      string `json:"summary"`
	Link         string `json:"link,omitempty"`
	Repeated     bool   `json:"repeated,omitempty"`
}

// webhook sends one CloudEvent for each line, with the headers of Standard Webhooks. Few receivers
// accept batches. The IDs are those of the events, so that a receiver recognizes a repeated request.
func webhook(d delivery) ([]request, *notification.Failure) {
	key, f := webhookKey(d.Secret)
	if f != nil {
		return nil, f
	}
	m := d.message
	if m.Test {
		l := notification.Line{ID: m.ID, At: m.Attempted, Object: "notification/" + m.Notification, Severity: notification.Info, ClaimedAt: m.Attempted}
		return []request{webhookRequest(d, key, "dev.gpupool.notification.test", eventData{Line: l, Summary: m.Title(), Link: webAddress(m.PageURL)})}, nil
	}
	var requests []request
	for _, l := range m.Lines {
		data := eventData{Line: l, Summary: l.String(), Link: webAddress(m.Link(l))}
		requests = append(requests, webhookRequest(d, key, "dev.gpupool.event."+string(l.Kind), data))
	}
	if l, some := leftOut(m); some {
		data := eventData{Line: l, Summary: l.Text, Link: webAddress(m.PageURL)}
		requests = append(requests, webhookRequest(d, key, "dev.gpupool.notification.left_out", data))
	}
	return requests, nil
}

func webhookRequest(d delivery, key, kind string, data eventData) request {
	data.Notification, data.Repeated = d.message.Notification, d.message.Repeated
	r := post(d.URL, cloudEvent{"1.0", data.ID, "/gpupool", kind, data.Object, data.At, "application/json", data})
	r.header["Content-Type"] = "application/cloudevents+json; charset=utf-8"
	// A dot separates the signed parts.
	id, at := strings.ReplaceAll(data.ID, ".", "_"), strconv.FormatInt(d.now.Unix(), 10)
	r.header["webhook-id"], r.header["webhook-timestamp"] = id, at
	if key != "" {
		r.header["webhook-signature"] = "v1," + sign(key, id+"."+at+"."+string(r.body))
	}
	return r
}

const webhookPrefix = "whsec_"

// webhookKey returns the key of a secret: the bytes in base64 after whsec_, else the secret itself.
func webhookKey(secret string) (string, *notification.Failure) {
	encoded, is := strings.CutPrefix(secret, webhookPrefix)
	if !is {
		return secret, nil
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) == 0 {
		return "", &notification.Failure{Reason: reason.InvalidSecret(webhookPrefix)}
	}
	return string(key), nil
}

func judgeWebhook(r response) *notification.Failure {
	if r.status >= 200 && r.status < 300 {
		return nil
	}
	return r.unexpected()
}
