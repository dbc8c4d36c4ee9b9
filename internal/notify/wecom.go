package notify

import (
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
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

const weComURL = "Create the group robot again in WeCom, set url_wo to its URL, and increase url_wo_version."

var weComRemedies = map[string]remedy{
	"-1":    busy(time.Minute),
	"40008": {text: "Update gpupool: WeCom refused the type of the message."},
	"40033": {text: "Update gpupool: WeCom refused a character of the message."},
	"40035": {text: "Update gpupool: WeCom refused the form of the message."},
	"40058": {text: "Update gpupool: WeCom refused the form or the size of the message."},
	"45002": {text: "Update gpupool: WeCom refused the size of the message."},
	"45009": busy(time.Minute),
	"45033": busy(time.Minute),
	"93000": {text: weComURL},
	"93008": {text: weComURL},
}

func judgeWeCom(r response) *notification.Failure {
	return judgeCode(r, "errcode", "errmsg", weComRemedies)
}
