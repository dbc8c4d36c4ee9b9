package notify

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// FuzzJudge: whatever a receiver responds, a message is only delivered if the protocol says so, and
// a failure explains itself.
func FuzzJudge(f *testing.F) {
	for _, body := range []string{
		"", "ok", `{"errcode":0}`, `{"errcode":null}`, `{"errcode":"0"}`, `{"errcode":1e0,"errmsg":7}`, `{"code":0}`, `{"code":9499,"msg":"too many"}`,
		`{"status":"success"}`, `{"status":"invalid event","errors":null}`, `"text"`, "null", "[]", "\xff", strings.Repeat("a", 70),
	} {
		for _, status := range []int{200, 202, 302, 400, 404, 429, 500, 503} {
			f.Add(status, body, "30")
		}
	}
	f.Fuzz(func(t *testing.T, status int, body, retryAfter string) {
		r := response{status: 200 + max(status, -status)%400, header: http.Header{"Retry-After": {retryAfter}}, body: []byte(body), now: time.Unix(1e9, 0)}
		for kind, p := range protocols {
			got := p.judge(r)
			if got == nil {
				if !delivered(kind, r) {
					t.Errorf("%s: HTTP %d %q is a success", kind, r.status, body)
				}
				continue
			}
			if got.Code == "" || got.Reason.IsZero() || got.RetryAfter < 0 || got.RetryAfter > mostWait {
				t.Errorf("%s: HTTP %d %q is %+v", kind, r.status, body, *got)
			}
			if got.Uncertain && r.status >= 300 && r.status < 500 && got.Code != "rollup_error" {
				t.Errorf("%s: HTTP %d %q is uncertain: %+v", kind, r.status, body, *got)
			}
		}
		r.problem = reason.ResponseEnded()
		for kind, p := range protocols {
			if got := p.judge(r); got == nil && kind != notification.Webhook && r.status != http.StatusAccepted {
				t.Errorf("%s: a part of %q is a success", kind, body)
			}
		}
	})
}

// delivered is a second description of success.
func delivered(kind notification.Type, r response) bool {
	var fields map[string]any
	isJSON := json.Unmarshal(r.body, &fields) == nil
	switch kind {
	case notification.Slack:
		return r.status == 200 && strings.TrimSpace(string(r.body)) == "ok"
	case notification.WeCom, notification.DingTalk:
		return isJSON && fields["errcode"] == 0.0
	case notification.Feishu:
		return isJSON && fields["code"] == 0.0
	case notification.PagerDuty:
		return r.status == 202
	case notification.Alertmanager:
		return r.status == 200 && len(r.body) == 0
	}
	return r.status < 300
}

// The first signature is a vector of the libraries of Standard Webhooks. The others are from Python's
// hmac, by the samples of DingTalk and Feishu.
func TestSignatures(t *testing.T) {
	t.Parallel()
	key, f := webhookKey("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if f != nil {
		t.Fatal(f)
	}
	for _, c := range []struct{ key, text, want string }{
		{key, `msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}`, "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
		{"this is secret", "1577262236757\nthis is secret", "hmPWwU+7lVdm3ZZz0r9tSfx0L4Q26jWOZr9+Gs6EZQM="},
		{"1599360473\nthis is secret", "", "/eYKrXQBzTjUZJ3s6NX16VxGbTwmK7AEs8/FnvC1CSw="},
	} {
		if got := sign(c.key, c.text); got != c.want {
			t.Errorf("the signature of %q is %s, want %s", c.text, got, c.want)
		}
	}
}

// FuzzPlain: no text of a tenant breaks a line, controls a terminal or exceeds its size.
func FuzzPlain(f *testing.F) {
	for _, text := range []string{"", "a\nb", "\u202e", "\xff", strings.Repeat("甲", 100)} {
		f.Add(text, 50)
	}
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = max(most, -most) % 2000
		got := plain(text, most)
		if len(got) > max(most, 0) || strings.ContainsAny(got, "\n\r\x00\x1b\u202e\u2066\u2028") || plain(got, most) != got {
			t.Errorf("%q is %q", text, got)
		}
	})
}
