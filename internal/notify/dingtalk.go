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
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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

var dingTalkRefusals = map[string]refusal{
	"-1":     busy(time.Minute),
	"130101": busy(dingTalkPause),
	"410100": busy(dingTalkPause),
	"90030":  busy(time.Hour),
	"300005": {because: reason.DingTalkNoRobot},
	"400013": {because: reason.DingTalkDisbanded},
	"400101": {because: reason.DingTalkNoRobot},
	"400102": {because: reason.DingTalkDisabled},
	"400105": {because: reason.DingTalkType},
	"400106": {because: reason.DingTalkNoRobot},
	"430101": {because: reason.DingTalkContent},
	"430102": {because: reason.DingTalkContent},
	"430104": {because: reason.DingTalkContent},
	"460101": {because: reason.DingTalkSize},
	"310000": {because: reason.DingTalkSecurity},
}

// dingTalkChecks are the checks behind code 310000, by words of its message.
var dingTalkChecks = []struct {
	english, chinese string
	because          func(reason.Reason) reason.Reason
}{
	{"keyword", "关键词", reason.DingTalkKeyword},
	{"sign not match", "签名不匹配", reason.DingTalkSecret},
	{"timestamp", "时间戳", reason.DingTalkClock},
	{"whitelist", "白名单", reason.DingTalkAddress},
}

func judgeDingTalk(r response) *notification.Failure {
	return judgeCode(r, "errcode", "errmsg", func(code, message string) refusal {
		for _, c := range dingTalkChecks {
			if code == "310000" && (strings.Contains(message, c.english) || strings.Contains(message, c.chinese)) {
				return refusal{because: c.because}
			}
		}
		return dingTalkRefusals[code]
	})
}
