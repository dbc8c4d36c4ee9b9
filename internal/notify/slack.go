package notify

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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

var slackRefusals = map[string]refusal{
	"invalid_payload":                   {because: reason.SlackForm},
	"no_text":                           {because: reason.SlackForm},
	"msg_blocks_too_long":               {because: reason.SlackSize},
	"invalid_blocks":                    {because: reason.SlackForm},
	"user_not_found":                    {because: reason.SlackNoUser},
	"channel_not_found":                 {because: reason.SlackNoChannel},
	"channel_is_archived":               {because: reason.SlackArchived},
	"action_prohibited":                 {because: reason.SlackForbidden},
	"posting_to_general_channel_denied": {because: reason.SlackGeneral},
	"no_service":                        {because: reason.SlackNoWebhook},
	"no_active_hooks":                   {because: reason.SlackNoWebhook},
	"no_team":                           {because: reason.SlackNoTeam},
	"team_disabled":                     {because: reason.SlackTeamOff},
	"invalid_token":                     {because: reason.SlackToken},
	"rollup_error":                      busy(time.Minute),
	"rate_limited":                      busy(30 * time.Second),
	"ratelimited":                       busy(30 * time.Second),
}

func judgeSlack(r response) *notification.Failure {
	body := string(bytes.TrimSpace(r.body))
	switch {
	case r.problem.IsZero() && r.status == http.StatusOK && body == "ok":
		return nil
	case !r.problem.IsZero() || r.status < 400 || !short(body) || body == "ok":
		return r.unexpected()
	}
	means, known := slackRefusals[body]
	f := r.refuse(body, reason.SlackRefused(), means)
	f.Uncertain = body == "rollup_error" || r.status >= 500 && !known
	if r.status == http.StatusTooManyRequests && f.RetryAfter == 0 {
		f.RetryAfter = slackRefusals["rate_limited"].wait
	}
	return f
}
