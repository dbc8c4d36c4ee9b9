package notify

import (
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// weComBytes is the published limit of a text, in UTF-8.
const weComBytes = 2048

// weComEscapes make markup of a person or a link visible: WeCom has no escape for it.
var weComEscapes = strings.NewReplacer("<", "＜", ">", "＞")

// weCom sends a text without mentions: WeCom reads them from lists, which are absent.
func weCom(d delivery) ([]request, *notification.Failure) {
	text := map[string]any{"content": d.message.Text(weComBytes, weComEscapes.Replace)}
	return []request{post(d.URL, map[string]any{"msgtype": "text", "text": text})}, nil
}

var weComRefusals = map[string]refusal{
	"-1":    busy(time.Minute),
	"40008": {because: reason.WeComType},
	"40033": {because: reason.WeComCharacter},
	"40035": {because: reason.WeComForm},
	"40058": {because: reason.WeComLength},
	"45002": {because: reason.WeComSize},
	"45009": busy(time.Minute),
	"45033": busy(time.Minute),
	"93000": {because: reason.WeComNoRobot},
	"93008": {because: reason.WeComNoRobot},
}

func judgeWeCom(r response) *notification.Failure {
	return judgeCode(r, "errcode", "errmsg", func(code, _ string) refusal { return weComRefusals[code] })
}
