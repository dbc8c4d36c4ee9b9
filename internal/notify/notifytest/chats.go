package notifytest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// slackMention finds what Slack parses as a mention or a link in a text with markup.
var slackMention = regexp.MustCompile(`<[!@#][^>]*>|<https?:[^>]*>`)

// slackBurst is how many messages at once are accepted. Slack publishes no number.
const slackBurst = 5

// slack enforces https://docs.slack.dev/apis/web-api/rate-limits and the errors of
// https://api.slack.com/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks.
func (s *Server) slack(r *http.Request, body []byte) reply {
	if !strings.HasSuffix(r.URL.Path, "/"+Key) {
		return reply{status: http.StatusNotFound, body: "no_service"}
	}
	if s.bucket(1, slackBurst) {
		return reply{status: http.StatusTooManyRequests, header: map[string]string{"Retry-After": "1"}, body: "rate_limited"}
	}
	var m struct {
		Text      string           `json:"text"`
		LinkNames bool             `json:"link_names"`
		Blocks    []map[string]any `json:"blocks"`
	}
	if json.Unmarshal(body, &m) != nil {
		return reply{status: http.StatusBadRequest, body: "invalid_payload"}
	}
	if m.Text == "" && len(m.Blocks) == 0 {
		return reply{status: http.StatusBadRequest, body: "no_text"}
	}
	a := Arrival{Text: m.Text, Mentions: slackMention.FindAllString(m.Text, -1)}
	if m.LinkNames {
		a.Mentions = append(a.Mentions, "link_names")
	}
	if len(m.Blocks) > 0 {
		a.Text = ""
	}
	for _, block := range m.Blocks {
		switch block["type"] {
		case "rich_text":
			slackElements(block["elements"], &a)
		case "section", "header":
			text, _ := block["text"].(map[string]any)
			content, _ := text["text"].(string)
			if content == "" || utf8.RuneCountInString(content) > 3000 {
				return reply{status: http.StatusBadRequest, body: "invalid_blocks"}
			}
			a.Text += content
			a.Mentions = append(a.Mentions, slackMention.FindAllString(content, -1)...)
		default:
			return reply{status: http.StatusBadRequest, body: "invalid_blocks"}
		}
	}
	if utf8.RuneCountInString(a.Text) > 13_000 {
		return reply{status: http.StatusBadRequest, body: "msg_blocks_too_long"}
	}
	return reply{status: http.StatusOK, body: "ok", arrival: &a}
}

// slackElements reads rich text: mentions are elements of their own.
func slackElements(elements any, a *Arrival) {
	list, _ := elements.([]any)
	for _, e := range list {
		element, _ := e.(map[string]any)
		switch element["type"] {
		case "text":
			text, _ := element["text"].(string)
			a.Text += text
		case "link":
			address, _ := element["url"].(string)
			a.Text += address
		case "broadcast", "user", "usergroup", "channel":
			a.Mentions = append(a.Mentions, element["type"].(string))
		default:
			slackElements(element["elements"], a)
		}
	}
}

// teams enforces the limits of https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook
// (28 KB, four requests a second), and the forms of .../how-to/connectors-using (Adaptive Cards only).
func (s *Server) teams(r *http.Request, body []byte) reply {
	switch {
	case !strings.HasSuffix(r.URL.Path, "/"+Key):
		return reply{status: http.StatusNotFound}
	case s.exceeds(map[time.Duration]int{time.Second: 4}):
		return reply{status: http.StatusTooManyRequests}
	case len(body) > 28<<10:
		return reply{status: http.StatusRequestEntityTooLarge, body: "Request Entity too large"}
	}
	var m struct {
		Type        string `json:"type"`
		Attachments []struct {
			ContentType string `json:"contentType"`
			Content     struct {
				Type    string           `json:"type"`
				Version string           `json:"version"`
				Body    []map[string]any `json:"body"`
				MSTeams struct {
					Entities []any `json:"entities"`
				} `json:"msteams"`
			} `json:"content"`
		} `json:"attachments"`
	}
	refused := reply{status: http.StatusBadRequest, body: `{"error":{"code":"InvalidRequestContent"}}`}
	if json.Unmarshal(body, &m) != nil || m.Type != "message" || len(m.Attachments) == 0 {
		return refused
	}
	var a Arrival
	for _, attachment := range m.Attachments {
		card := attachment.Content
		if attachment.ContentType != "application/vnd.microsoft.card.adaptive" || card.Type != "AdaptiveCard" || card.Version == "" || len(card.Body) == 0 {
			return refused
		}
		for range card.MSTeams.Entities {
			a.Mentions = append(a.Mentions, "entity")
		}
		for _, block := range card.Body {
			if block["type"] == "TextBlock" { // which is parsed as Markdown
				a.Mentions = append(a.Mentions, "TextBlock")
			}
			inlines, _ := block["inlines"].([]any)
			for _, run := range inlines {
				fields, _ := run.(map[string]any)
				text, _ := fields["text"].(string)
				a.Text += text + "\n"
			}
		}
	}
	return reply{status: http.StatusAccepted, arrival: &a}
}
