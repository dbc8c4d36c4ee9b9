package notify

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
)

// slackBytes is below the published 40,000 characters of a text. Slack refuses blocks of more than
// about 13,000 characters.
const slackBytes = 12_000

var slackEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// slack sends rich text, of which no element is parsed: markup, mentions and links in it are text.
// The text in addition to the blocks is what a notification on a phone shows.
func slack(d delivery) ([]request, *notification.Failure) {
	body := func(room int) []byte {
		var elements []map[string]any
		for n, p := range paragraphs(d.message, room) {
			element := map[string]any{"type": "text", "text": p.text}
			switch {
			case n == 0:
				element["style"] = map[string]bool{"bold": true}
			case p.link:
				element = map[string]any{"type": "link", "url": p.text}
			}
			if n > 0 {
				elements = append(elements, map[string]any{"type": "text", "text": "\n"})
			}
			elements = append(elements, element)
		}
		section := map[string]any{"type": "rich_text_section", "elements": elements}
		return encode(map[string]any{
			"text":   slackEscapes.Replace(notification.Cut(d.message.Title(), 500)),
			"blocks": []any{map[string]any{"type": "rich_text", "elements": []any{section}}},
			"mrkdwn": false, "parse": "none", "link_names": false, "unfurl_links": false, "unfurl_media": false,
		})
	}
	r := post(d.URL, nil)
	r.body = fit(slackBytes, body)
	return []request{r}, nil
}

var slackRemedies = map[string]remedy{
	"invalid_payload":                   {text: "Update gpupool: Slack refused the form of the message."},
	"no_text":                           {text: "Update gpupool: Slack refused the form of the message."},
	"msg_blocks_too_long":               {text: "Update gpupool: Slack refused the size of the message."},
	"invalid_blocks":                    {text: "Update gpupool: Slack refused the form of the message."},
	"user_not_found":                    {text: "Create the webhook again in Slack: its user does not exist."},
	"channel_not_found":                 {text: "Create the webhook again in Slack: its channel does not exist."},
	"channel_is_archived":               {text: "Unarchive the channel in Slack, or create a webhook for another channel."},
	"action_prohibited":                 {text: "Ask an administrator of the Slack workspace to permit webhooks in this channel."},
	"posting_to_general_channel_denied": {text: "Use another channel, or ask an administrator of the Slack workspace for the permission."},
	"no_service":                        {text: "Create the webhook again in Slack: it was removed or disabled."},
	"no_active_hooks":                   {text: "Create the webhook again in Slack: it was removed or disabled."},
	"no_team":                           {text: "Create the webhook again in Slack: its workspace does not exist."},
	"team_disabled":                     {text: "Create the webhook again in Slack: its workspace is disabled."},
	"invalid_token":                     {text: "Set url_wo to the webhook URL that Slack shows, and increase url_wo_version."},
	"rollup_error":                      busy(time.Minute),
	"rate_limited":                      busy(30 * time.Second),
	"ratelimited":                       busy(30 * time.Second),
}

func judgeSlack(r response) *notification.Failure {
	body := bytes.TrimSpace(r.body)
	switch {
	case r.problem == "" && r.status == http.StatusOK && string(body) == "ok":
		return nil
	case r.problem != "" || r.status < 400 || !short(body) || string(body) == "ok":
		return r.unexpected()
	}
	f := r.refusal(string(body), "Slack refused the message", slackRemedies)
	_, known := slackRemedies[string(body)]
	f.Uncertain = string(body) == "rollup_error" || r.status >= 500 && !known
	if r.status == http.StatusTooManyRequests && f.RetryAfter == 0 {
		f.RetryAfter = slackRemedies["rate_limited"].wait
	}
	return f
}
