package notify

import (
	"strconv"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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

var feishuRefusals = map[string]refusal{
	"9499":  {because: reason.FeishuSize},
	"11232": busy(time.Minute),
	"19001": {because: reason.FeishuNoRobot},
	"19002": {because: reason.FeishuForm},
	"19021": {because: reason.FeishuSecret},
	"19022": {because: reason.FeishuAddress},
	"19024": {because: reason.FeishuKeyword},
}

func judgeFeishu(r response) *notification.Failure {
	return judgeCode(r, "code", "msg", func(code, message string) refusal {
		if code == "9499" && strings.Contains(strings.ToLower(message), "too many") {
			return busy(time.Minute)
		}
		return feishuRefusals[code]
	})
}
