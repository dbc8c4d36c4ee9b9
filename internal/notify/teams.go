package notify

import (
	"net/http"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// teamsBytes is below the published limit of about 28 KB, which includes what Teams adds.
const teamsBytes = 20_000

// teams sends an Adaptive Card to a workflow. A TextRun is not parsed as Markdown, unlike a
// TextBlock. A mention needs an entity, and the card has none.
func teams(d delivery) ([]request, *notification.Failure) {
	body := func(room int) []byte {
		var blocks []any
		for n, p := range paragraphs(d.message, room) {
			run := map[string]any{"type": "TextRun", "text": p.text}
			switch {
			case n == 0:
				run["weight"] = "Bolder"
			case p.link:
				run["selectAction"] = map[string]any{"type": "Action.OpenUrl", "url": p.text}
			}
			blocks = append(blocks, map[string]any{"type": "RichTextBlock", "inlines": []any{run}})
		}
		card := map[string]any{
			"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
			"msteams": map[string]any{"width": "Full"}, "body": blocks,
		}
		return encode(map[string]any{"type": "message", "attachments": []any{
			map[string]any{"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil, "content": card},
		}})
	}
	r := post(d.URL, nil)
	r.body = fit(teamsBytes, body)
	return []request{r}, nil
}

// judgeTeams judges by the status: a workflow begins after its response, which has no body.
func judgeTeams(r response) *notification.Failure {
	if r.status == http.StatusAccepted || r.status == http.StatusOK && r.problem.IsZero() && len(r.body) == 0 {
		return nil
	}
	switch r.status {
	case http.StatusBadRequest:
		return r.failure(reason.TeamsWorkflow)
	case http.StatusUnauthorized, http.StatusForbidden:
		return r.failure(reason.TeamsTrigger)
	}
	return r.unexpected()
}
