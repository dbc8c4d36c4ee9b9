package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
)

// dingTalkBytes is the published limit of a request.
const dingTalkBytes = 20_000

// dingTalk sends a text without mentions: DingTalk reads them from lists, which are absent. With a
// secret, the address contains a signature of the time.
func dingTalk(d delivery) ([]request, *notification.Failure) {
	u, err := url.Parse(d.URL)
	if err != nil {
		return nil, invalidURL()
	}
	if d.Secret != "" {
		query := u.Query()
		at := strconv.FormatInt(d.now.UnixMilli(), 10)
		query.Set("timestamp", at)
		query.Set("sign", sign(d.Secret, at+"\n"+d.Secret))
		u.RawQuery = query.Encode()
	}
	r := post(u.String(), nil)
	r.body = fit(dingTalkBytes, func(room int) []byte {
		text := map[string]any{"content": d.message.Text(room, nil)}
		return encode(map[string]any{"msgtype": "text", "text": text, "at": map[string]any{"isAtAll": false}})
	})
	return []request{r}, nil
}

// sign returns the HMAC-SHA256 of a text, in base64.
func sign(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// dingTalkPause is how long DingTalk refuses each message of a robot that sent too many.
const dingTalkPause = 10 * time.Minute

const (
	dingTalkURL     = "Create the robot again in DingTalk, set url_wo to its URL, and increase url_wo_version."
	dingTalkContent = "DingTalk refused a text or a link. Read the message with gpupool history, and check the names in it."
)

var dingTalkRemedies = map[string]remedy{
	"-1":     busy(time.Minute),
	"130101": busy(dingTalkPause),
	"410100": busy(dingTalkPause),
	"90030":  busy(time.Hour),
	"300005": {text: dingTalkURL},
	"400013": {text: "Create a robot in another group: DingTalk disbanded this one."},
	"400101": {text: dingTalkURL},
	"400102": {text: "Enable the robot in DingTalk."},
	"400105": {text: "Update gpupool: DingTalk refused the type of the message."},
	"400106": {text: dingTalkURL},
	"430101": {text: dingTalkContent},
	"430102": {text: dingTalkContent},
	"430104": {text: dingTalkContent},
	"460101": {text: "Update gpupool: DingTalk refused the size of the message."},
	"310000": {text: "Compare the secret, the keywords and the IP addresses in the robot's security settings with secret_wo and with this network."},
}

// dingTalkChecks are the checks behind code 310000, by words of its message.
var dingTalkChecks = []struct{ english, chinese, remedy string }{
	{"keyword", "关键词", "Add the keyword gpupool to the robot's security settings. Each message contains it."},
	{"sign not match", "签名不匹配", "Set secret_wo to the secret of the robot, which begins with SEC, and increase secret_wo_version."},
	{"timestamp", "时间戳", "Correct the clock of this machine: it differs by more than an hour."},
	{"whitelist", "白名单", "Add the IP address of this network to the robot's security settings."},
}

func judgeDingTalk(r response) *notification.Failure {
	f := judgeCode(r, "errcode", "errmsg", dingTalkRemedies)
	if f != nil && f.Code == "310000" {
		for _, c := range dingTalkChecks {
			if strings.Contains(f.Message, c.english) || strings.Contains(f.Message, c.chinese) {
				f.Remedy = c.remedy
				break
			}
		}
	}
	return f
}
