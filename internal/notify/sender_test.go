package notify_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/notify"
	"github.com/gpupool/terraform-provider-gpupool/internal/notify/notifytest"
)

var start = time.Date(2026, 3, 2, 10, 1, 0, 0, time.UTC)

// clock is a clock that a test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// secretOf returns a secret of a type, as its operator issues it.
func secretOf(t notification.Type) string {
	switch t {
	case notification.DingTalk:
		return "SEC0f1e2d3c4b5a69788796a5b4c3d2e1f0"
	case notification.Feishu:
		return "Zx9Kq2LmN4pRsT7v"
	case notification.PagerDuty:
		return notifytest.RoutingKey
	case notification.Alertmanager:
		return "bearer-of-a-proxy"
	case notification.Webhook:
		return "whsec_" + base64.StdEncoding.EncodeToString([]byte("0123456789abcdefghijklmn"))
	}
	return ""
}

// types returns each type of receiver.
func types(t *testing.T) []notification.Type {
	t.Helper()
	all := notification.Types()
	if len(all) != 8 {
		t.Fatalf("%d types, want 8: %v", len(all), all)
	}
	return all
}

// receiver returns a server, a declaration that sends to it, and a sender on the same clock.
func receiver(t *testing.T, kind notification.Type) (*notifytest.Server, notification.Declaration, notify.Sender, *clock) {
	t.Helper()
	c := &clock{start}
	server := notifytest.New(t, kind)
	server.Now = c.now
	if kind != notification.PagerDuty {
		server.Secret = secretOf(kind)
	}
	d := notification.Declaration{Name: "ops", Type: kind, URL: server.URL, Secret: secretOf(kind)}
	return server, d, notify.Sender{Now: c.now}, c
}

func line(id string, kind history.Kind, object, text string) notification.Line {
	l := notification.Line{ID: id, At: start, Kind: kind, Object: object, Severity: notification.SeverityOf(kind), Text: text, ClaimedAt: start}
	if kind == history.Exceeded || kind == history.Recovered {
		l.Condition, l.Resolved = object+"/exceeded", kind == history.Recovered
	}
	return l
}

func message(lines ...notification.Line) notification.Message {
	return notification.Message{ID: "m-1", Notification: "ops", Attempted: start, Lines: lines, PageURL: "https://gpupool.example.com"}
}

func exceeded() notification.Line {
	return line("e-1", history.Exceeded, "budget/team-a", "120 of 100 GPU-hours are used")
}

// failure returns the failure of a send. It fails the test if there is none.
func failure(t *testing.T, err error) *notification.Failure {
	t.Helper()
	var f *notification.Failure
	if !errors.As(err, &f) {
		t.Fatalf("the error is %v, want a failure", err)
	}
	return f
}

func TestMessageArrives(t *testing.T) {
	t.Parallel()
	for _, kind := range types(t) {
		server, d, sender, _ := receiver(t, kind)
		if err := sender.Send(t.Context(), d, message(exceeded())); err != nil {
			t.Fatalf("%s: %v: %s", kind, err, failure(t, err).Remedy())
		}
		got := server.Arrivals()
		if len(got) != 1 {
			t.Fatalf("%s: %d requests arrived, want 1", kind, len(got))
		}
		for _, want := range []string{"budget/team-a", "exceeded", "120 of 100 GPU-hours are used"} {
			if !strings.Contains(got[0].Text, want) {
				t.Errorf("%s: the text has no %q: %s", kind, want, got[0].Text)
			}
		}
		if !strings.Contains(string(got[0].Body), "https://gpupool.example.com/budgets/team-a") {
			t.Errorf("%s: the link is missing: %s", kind, got[0].Body)
		}
		if kind.Idempotent() && !strings.Contains(string(got[0].Body), "e-1") {
			t.Errorf("%s: the ID of the event is missing: %s", kind, got[0].Body)
		}
	}
}

// TestMessagesHaveTheSeverityAndTheRemedy: chats in the text, others as fields.
func TestMessagesHaveTheSeverityAndTheRemedy(t *testing.T) {
	t.Parallel()
	for _, kind := range types(t) {
		server, d, sender, _ := receiver(t, kind)
		l := exceeded()
		l.Remedy = "Grant GPU-hours."
		if err := sender.Send(t.Context(), d, message(l)); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		got := server.Arrivals()[0]
		const want = "UTC  critical  budget/team-a: exceeded: 120 of 100 GPU-hours are used. Grant GPU-hours."
		if !kind.Idempotent() && !strings.Contains(got.Text, want) {
			t.Errorf("%s: the text is %q", kind, got.Text)
		}
		body := string(got.Body)
		if kind.Idempotent() && (!strings.Contains(body, `"remedy":"Grant GPU-hours."`) || !strings.Contains(body, `"severity":"critical"`)) {
			t.Errorf("%s: the request is %s", kind, body)
		}
	}
}

func TestTestMessageArrives(t *testing.T) {
	t.Parallel()
	for _, kind := range types(t) {
		server, d, sender, c := receiver(t, kind)
		m := message()
		m.Test = true
		if err := sender.Send(t.Context(), d, m); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if got := server.Arrivals(); len(got) == 0 || !strings.Contains(got[0].Text, "test of the notification ops") {
			t.Errorf("%s: the test message did not arrive: %v", kind, got)
		}
		c.at = start.Add(2 * time.Minute)
		if got := server.Alerts(); len(got) > 0 {
			t.Errorf("%s: the test leaves the alert %v", kind, got)
		}
	}
}

// hostile are names and texts of a tenant.
var hostile = []string{
	"<!channel> <!here> <@U123> <https://evil.example|click>", "@here @all @channel", `<at user_id="all">all</at>`, "<@all>",
	"[click](https://evil.example) **bold** `code` ![](https://evil.example/x.png)", "<a href=\"https://evil.example\">x</a>",
	"line\nbudget/other: exceeded\r\nhttps://gpupool.example.com/evil", "\u202egnp.exe\u2066", "\x1b[2J\x00\x07", "a\u2028b\u2029c", "\xff\xfe broken",
	"@everyone <!everyone> [x](javascript:alert(1))", "a\u200bb\u200d\ufeff@everyone", strings.Repeat("team", 2500),
	"</script><script>alert(1)</script>", `"}],"text":"<!channel>"`, `\u0041\`, "{{DATE(2017-02-14T06:00:00Z)}}",
	strings.Repeat("甲", 4000), strings.Repeat(`"\<&`, 3000),
}

func TestHostileTextIsData(t *testing.T) {
	t.Parallel()
	for _, kind := range types(t) {
		for _, text := range hostile {
			server, d, sender, _ := receiver(t, kind)
			l := line("e-1", history.Exceeded, "budget/"+text, text)
			m := message(l)
			m.Open = []notification.Line{line("e-0", history.Exceeded, "budget/"+text+"2", text)}
			if err := sender.Send(t.Context(), d, m); err != nil {
				t.Errorf("%s refuses %.40q: %v", kind, text, err)
				continue
			}
			got := server.Arrivals()[0]
			if len(got.Mentions) > 0 {
				t.Errorf("%s: %.40q mentions %q", kind, text, got.Mentions)
			}
			if strings.ContainsAny(got.Text, "\x00\x07\x1b\u202e\u2066\u2028\u2029") || !utf8.ValidString(got.Text) {
				t.Errorf("%s: %.40q arrives as %.200q", kind, text, got.Text)
			}
			if strings.Contains("\n"+got.Text, "\nbudget/other") || strings.Contains(got.Text, "\nhttps://gpupool.example.com/evil") {
				t.Errorf("%s: %.40q begins a line: %q", kind, text, got.Text)
			}
		}
	}
}

// A long message is shortened to the published size. It counts what it omits.
func TestLongMessageFits(t *testing.T) {
	t.Parallel()
	for _, kind := range []notification.Type{
		notification.Slack, notification.Teams, notification.WeCom, notification.DingTalk, notification.Feishu, notification.Alertmanager,
	} {
		server, d, sender, _ := receiver(t, kind)
		var lines []notification.Line
		for n := range 400 {
			lines = append(lines, line("e-"+strconv.Itoa(n), history.Failed, "budget/部门-"+strconv.Itoa(n), strings.Repeat(`"甲乙丙`, 20)))
		}
		if err := sender.Send(t.Context(), d, message(lines...)); err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		got := server.Arrivals()[0]
		if kind != notification.Alertmanager && (!strings.Contains(got.Text, "more: gpupool history lists them") || !strings.Contains(got.Text, "部门-0")) {
			t.Errorf("%s: the text neither begins with the first line nor counts the rest: %s", kind, got.Text)
		}
		if !utf8.ValidString(got.Text) || strings.ContainsRune(got.Text, utf8.RuneError) {
			t.Errorf("%s: the text is cut within a character", kind)
		}
	}
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind     notification.Type
		accepted int
		code     string
		wait     time.Duration
	}{
		{notification.Slack, 5, "rate_limited", 30 * time.Second},
		{notification.Teams, 4, "HTTP 429", time.Minute},
		{notification.WeCom, 20, "45009", time.Minute},
		{notification.DingTalk, 20, "130101", 10 * time.Minute},
		{notification.Feishu, 5, "11232", time.Minute},
	} {
		server, d, sender, now := receiver(t, c.kind)
		for range c.accepted {
			if err := sender.Send(t.Context(), d, message(exceeded())); err != nil {
				t.Fatalf("%s: %v", c.kind, err)
			}
		}
		f := failure(t, sender.Send(t.Context(), d, message(exceeded())))
		if f.Code != c.code || f.RetryAfter != c.wait || f.Uncertain || f.Remedy() == "" {
			t.Errorf("%s: the failure is %+v, want code %s and a wait of %s", c.kind, *f, c.code, c.wait)
		}
		now.at = now.at.Add(c.wait)
		if err := sender.Send(t.Context(), d, message(exceeded())); err != nil {
			t.Errorf("%s: after the wait: %v", c.kind, err)
		}
		if got := len(server.Arrivals()); got != c.accepted+1 {
			t.Errorf("%s: %d messages arrived, want %d", c.kind, got, c.accepted+1)
		}
	}
}

// Messages in the published interval are accepted for two minutes.
func TestIntervalIsWithinTheLimit(t *testing.T) {
	t.Parallel()
	for _, kind := range types(t) {
		interval := kind.Interval()
		if interval == 0 {
			continue
		}
		_, d, sender, now := receiver(t, kind)
		for now.at.Before(start.Add(2 * time.Minute)) {
			if err := sender.Send(t.Context(), d, message(exceeded())); err != nil {
				t.Fatalf("%s, after %s: %v", kind, now.at.Sub(start), err)
			}
			now.at = now.at.Add(interval)
		}
	}
}

func TestWrongSecretIsExplained(t *testing.T) {
	t.Parallel()
	for kind, code := range map[notification.Type]string{
		notification.DingTalk: "310000", notification.Feishu: "19021", notification.PagerDuty: "invalid event",
		notification.Alertmanager: "HTTP 401", notification.Webhook: "HTTP 401",
	} {
		_, d, sender, _ := receiver(t, kind)
		d.Secret = "another-secret-than-that-of-it"
		f := failure(t, sender.Send(t.Context(), d, message(exceeded())))
		if f.Code != code || f.Uncertain || !strings.Contains(f.Remedy(), "secret") {
			t.Errorf("%s: the failure is %+v, want code %s", kind, *f, code)
		}
	}
}

func TestWrongClockIsExplained(t *testing.T) {
	t.Parallel()
	for _, kind := range []notification.Type{notification.DingTalk, notification.Feishu} {
		_, d, sender, _ := receiver(t, kind)
		sender.Now = func() time.Time { return start.Add(-2 * time.Hour) }
		if f := failure(t, sender.Send(t.Context(), d, message(exceeded()))); !strings.Contains(f.Remedy(), "clock") {
			t.Errorf("%s: the remedy is %q", kind, f.Remedy())
		}
	}
}

func TestKeywordIsInEachMessage(t *testing.T) {
	t.Parallel()
	for kind, code := range map[notification.Type]string{notification.DingTalk: "310000", notification.Feishu: "19024"} {
		server, d, sender, _ := receiver(t, kind)
		server.Keyword = "gpupool"
		if err := sender.Send(t.Context(), d, message(exceeded())); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		server.Keyword = "another"
		f := failure(t, sender.Send(t.Context(), d, message(exceeded())))
		if f.Code != code || !strings.Contains(f.Remedy(), "keyword gpupool") {
			t.Errorf("%s: the failure is %+v", kind, *f)
		}
	}
}

func TestUncertainOutcomes(t *testing.T) {
	t.Parallel()
	for _, kind := range types(t) {
		for name, c := range map[string]struct {
			fault     notifytest.Fault
			uncertain bool
		}{
			"cut after the request":  {notifytest.Fault{Record: true, Cut: true}, true},
			"cut before it is read":  {notifytest.Fault{Cut: true}, true},
			"slow after the request": {notifytest.Fault{Record: true, Delay: time.Minute}, true},
			"error of a gateway":     {notifytest.Fault{Record: true, Status: http.StatusGatewayTimeout, Body: "<html>timeout</html>"}, true},
			"overload":               {notifytest.Fault{Status: http.StatusServiceUnavailable}, false},
			"redirect":               {notifytest.Fault{Status: http.StatusFound, Header: map[string]string{"Location": "https://evil.example/"}}, false},
			"gone":                   {notifytest.Fault{Status: http.StatusGone}, false},
		} {
			server, d, sender, _ := receiver(t, kind)
			server.Fail(c.fault)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if c.fault.Delay > 0 {
				go func() { // the sender gives up once the receiver has the request
					for server.Requests() == 0 {
						time.Sleep(time.Millisecond)
					}
					cancel()
				}()
			}
			f := failure(t, sender.Send(ctx, d, message(exceeded())))
			cancel()
			if f.Uncertain != c.uncertain || f.Reason.IsZero() || f.Remedy() == "" {
				t.Errorf("%s, %s: the failure is %+v, want uncertain = %v", kind, name, *f, c.uncertain)
			}
			if server.Requests() != 1 {
				t.Errorf("%s, %s: %d requests, want 1", kind, name, server.Requests())
			}
		}
	}
}

// The page of a proxy, with status 200, is no success. Only a webhook has no response of its own.
func TestForeignPageIsUncertain(t *testing.T) {
	t.Parallel()
	for _, kind := range types(t) {
		if kind == notification.Webhook {
			continue
		}
		for name, body := range map[string]string{
			"a page": "<html>Sign in</html>", "a long page": strings.Repeat("x", 100_000), "other JSON": `{"result":"ok"}`,
			"a success and more than is read": `{"errcode":0,"code":0}` + strings.Repeat(" ", 100_000),
		} {
			server, d, sender, _ := receiver(t, kind)
			server.Fail(notifytest.Fault{Status: http.StatusOK, Body: body})
			if f := failure(t, sender.Send(t.Context(), d, message(exceeded()))); !f.Uncertain || f.Code != "HTTP 200" {
				t.Errorf("%s, %s: the failure is %+v", kind, name, *f)
			}
		}
	}
}

func TestRetryAfterIsRespected(t *testing.T) {
	t.Parallel()
	for _, kind := range types(t) {
		server, d, sender, _ := receiver(t, kind)
		for value, want := range map[string]time.Duration{
			"300": 5 * time.Minute, start.Add(10 * time.Minute).Format(http.TimeFormat): 10 * time.Minute, "99999999": 24 * time.Hour,
		} {
			server.Fail(notifytest.Fault{Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": value}})
			f := failure(t, sender.Send(t.Context(), d, message(exceeded())))
			if f.RetryAfter != want || f.Uncertain {
				t.Errorf("%s, Retry-After: %s: the failure is %+v, want a wait of %s", kind, value, *f, want)
			}
		}
	}
}

func TestUnreachableHostIsCertain(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String() + "/services/" + notifytest.Key
	l.Close()
	plaintext := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plaintext.Close)
	for _, address := range []string{
		closed, "https://no-such-host.invalid/" + notifytest.Key, strings.Replace(plaintext.URL, "http:", "https:", 1), "https://a b/", "::",
	} {
		d := notification.Declaration{Type: notification.Slack, URL: address}
		f := failure(t, notify.Sender{}.Send(t.Context(), d, message(exceeded())))
		if f.Uncertain || f.Remedy() == "" {
			t.Errorf("%s: the failure is %+v", address, *f)
		}
		if strings.Contains(f.Error(), notifytest.Key) {
			t.Errorf("the message contains the URL: %s", f.Error())
		}
	}
}

// A receiver, or a proxy, may repeat what it received.
func TestNoFailureContainsASecret(t *testing.T) {
	t.Parallel()
	for _, kind := range types(t) {
		server, d, sender, _ := receiver(t, kind)
		long := strconv.Quote(strings.Repeat(notifytest.Key, 30))
		echo := "token " + notifytest.Key + " of " + server.URL + " with " + d.Secret
		for _, fault := range []notifytest.Fault{
			{Cut: true}, {Status: 400, Body: echo}, {Status: 500, Body: echo}, {Status: 200, Body: echo},
			{Status: 302, Header: map[string]string{"Location": "://" + notifytest.Key}},
			{Status: 200, Body: `{"errcode":1,"errmsg":` + strconv.Quote(echo) + `,"code":1,"msg":` + strconv.Quote(echo) + `}`},
			{Status: 200, Body: `{"errcode":1,"errmsg":` + long + `,"code":1,"msg":` + long + `}`},
			{Status: 400, Body: `{"status":` + strconv.Quote(echo) + `,"message":` + strconv.Quote(echo) + `}`},
			{Status: 400, Body: strconv.Quote(echo)},
		} {
			if kind == notification.Webhook && fault.Status == 200 {
				continue
			}
			server.Fail(fault)
			f := failure(t, sender.Send(t.Context(), d, message(exceeded())))
			stored, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{notifytest.Key[:20], d.URL, d.Secret} {
				if secret != "" && kind != notification.Alertmanager && strings.Contains(f.Error()+f.Remedy()+string(stored), secret) ||
					kind == notification.Alertmanager && strings.Contains(f.Error()+string(stored), d.Secret) {
					t.Errorf("%s: the failure contains a secret: %+v", kind, *f)
				}
			}
		}
	}
}

// A client of the caller decides whom to trust, and never follows a redirect.
func TestCertificatesAndRedirects(t *testing.T) {
	t.Parallel()
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect is followed") }))
	t.Cleanup(target.Close)
	server := &notifytest.Server{Type: notification.WeCom}
	web := httptest.NewUnstartedServer(server)
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.StartTLS()
	t.Cleanup(web.Close)
	d := notification.Declaration{Type: notification.WeCom, URL: server.Address(web.URL)}
	f := failure(t, notify.Sender{}.Send(t.Context(), d, message(exceeded())))
	if f.Uncertain || !strings.Contains(f.Error(), "certificate") || server.Requests() > 0 {
		t.Errorf("an unknown certificate: %+v", *f)
	}
	sender := notify.Sender{Client: web.Client()}
	if err := sender.Send(t.Context(), d, message(exceeded())); err != nil {
		t.Errorf("a trusted certificate: %v", err)
	}
	server.Fail(notifytest.Fault{Status: http.StatusTemporaryRedirect, Header: map[string]string{"Location": target.URL}})
	if f := failure(t, sender.Send(t.Context(), d, message(exceeded()))); f.Uncertain || !strings.Contains(f.Remedy(), "redirect") {
		t.Errorf("a redirect: %+v", *f)
	}
}

func TestCanceledAttemptIsCertainBeforeItIsSent(t *testing.T) {
	t.Parallel()
	_, d, sender, _ := receiver(t, notification.Slack)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f := failure(t, sender.Send(ctx, d, message(exceeded()))); f.Uncertain || !strings.Contains(f.Error(), "canceled") {
		t.Errorf("the failure is %+v", *f)
	}
}

func TestUnknownTypeIsRefused(t *testing.T) {
	t.Parallel()
	f := failure(t, notify.Sender{}.Send(t.Context(), notification.Declaration{Type: "pigeon"}, message(exceeded())))
	if !strings.Contains(f.Error(), "pigeon") || f.Remedy() == "" {
		t.Errorf("the failure is %+v", *f)
	}
}
