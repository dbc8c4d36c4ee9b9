package notify

import (
	"strconv"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
)

// feishuBytes is the published limit of a request.
const feishuBytes = 20 << 10

// feishu sends a post to a robot of Feishu or Lark. Texts in it are not parsed: a mention needs an
// element of its own.
func feishu(d delivery) ([]request, *notification.Failure) {
	body := func(room int) []byte {
		var lines [][]any
		all := paragraphs(d.message, room)
		for _, p := range all[1:] {
			element := map[string]any{"tag": "text", "text": p.text}
			if p.link {
				element = map[string]any{"tag": "a", "text": p.text, "href": p.text}
			}
			lines = append(lines, []any{element})
		}
		if len(lines) == 0 {
			lines = [][]any{{map[string]any{"tag": "text", "text": all[0].text}}}
		}
		content := map[string]any{
			"msg_type": "post",
			"content":  map[string]any{"post": map[string]any{"en_us": map[string]any{"title": all[0].text, "content": lines}}},
		}
		if d.Secret != "" {
			at := strconv.FormatInt(d.now.Unix(), 10)
			content["timestamp"], content["sign"] = at, sign(at+"\n"+d.Secret, "")
		}
		return encode(content)
	}
	r := post(d.URL, nil)
	r.body = fit(feishuBytes, body)
	return []request{r}, nil
}

var feishuRemedies = map[string]remedy{
	"9499":  {text: "Update gpupool: Feishu refused the form or the size of the message."},
	"11232": busy(time.Minute),
	"19001": {text: "Create the robot again in Feishu, set url_wo to its URL, and increase url_wo_version."},
	"19002": {text: "Update gpupool: Feishu refused the form of the message."},
	"19021": {text: "Set secret_wo to the secret of the robot, and increase secret_wo_version. If it is right, correct the clock of this machine."},
	"19022": {text: "Add the IP address of this network to the robot's security settings."},
	"19024": {text: "Add the keyword gpupool to the robot's security settings. Each message contains it."},
}

func judgeFeishu(r response) *notification.Failure {
	f := judgeCode(r, "code", "msg", feishuRemedies)
	if f != nil && f.Code == "9499" && strings.Contains(strings.ToLower(f.Message), "too many") {
		f.Remedy, f.RetryAfter = feishuRemedies["11232"].text, max(f.RetryAfter, time.Minute)
	}
	return f
}
