package notification_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
)

func TestInvalidDeclarationsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(d *notification.Declaration)
		want   string // an attribute and a part of its problem; empty if it is valid
	}{
		"valid":              {func(*notification.Declaration) {}, ""},
		"name":               {func(d *notification.Declaration) { d.Name = "Ops" }, "name: "},
		"type":               {func(d *notification.Declaration) { d.Type = "irc" }, "type: "},
		"no address":         {func(d *notification.Declaration) { d.URL, d.URLVersion = "", 0 }, "url_wo: slack needs an address"},
		"not the web":        {func(d *notification.Declaration) { d.URL = "ftp://example.com/x" }, "url_wo: it is not a web address"},
		"a password":         {func(d *notification.Declaration) { d.URL = "https://a:b@example.com/x" }, "url_wo: it is not a web address"},
		"without encryption": {func(d *notification.Declaration) { d.URL = "http://example.com/x" }, "url_wo: it would send"},
		"this machine":       {func(d *notification.Declaration) { d.URL = "http://127.0.0.1:1/x" }, ""},
		"in the cluster": {func(d *notification.Declaration) {
			d.Type, d.URL = notification.Alertmanager, "http://alertmanager.monitoring.svc:9093"
		}, ""},
		"a webhook in the cluster": {func(d *notification.Declaration) { d.Type, d.URL = notification.Webhook, "http://hooks.default.svc" }, ""},
		"slack in the cluster":     {func(d *notification.Declaration) { d.URL = "http://hooks.default.svc" }, "url_wo: it would send"},
		"out of the cluster": {
			func(d *notification.Declaration) { d.Type, d.URL = notification.Alertmanager, "http://example.com" }, "url_wo: it would send",
		},
		"no key": {func(d *notification.Declaration) { d.Type = notification.PagerDuty }, "secret_wo: pagerduty needs a secret"},
		"a short key": {func(d *notification.Declaration) {
			d.Type, d.Secret, d.SecretVersion = notification.PagerDuty, "abc", 1
		}, "secret_wo: an integration key has 32"},
		"a needless secret": {func(d *notification.Declaration) { d.Secret, d.SecretVersion = "abc", 1 }, "secret_wo: slack has no secret"},
		"a line break": {func(d *notification.Declaration) {
			d.Type, d.Secret, d.SecretVersion = notification.Webhook, "a\nb", 1
		}, "secret_wo: it contains a space"},
		"a space": {func(d *notification.Declaration) {
			d.Type, d.Secret, d.SecretVersion = notification.Webhook, "a b", 1
		}, "secret_wo: it contains a space"},
		"events":  {func(d *notification.Declaration) { d.Events = []history.Kind{"explosion"} }, `events[0]: "explosion" is not a kind`},
		"objects": {func(d *notification.Declaration) { d.Objects = []string{"team-a"} }, `objects[0]: "team-a" is not an object`},
		"globs of objects": {func(d *notification.Declaration) {
			d.Objects = []string{"budget/team-[ab]", "spot_pool/*/train", "run", "*"}
		}, ""},
		"a broken glob":      {func(d *notification.Declaration) { d.Objects = []string{"budget/team-["} }, `objects[0]: "budget/team-[" is not an object`},
		"many objects":       {func(d *notification.Declaration) { d.Objects = slices.Repeat([]string{"run"}, 100) }, ""},
		"too many objects":   {func(d *notification.Declaration) { d.Objects = slices.Repeat([]string{"run"}, 101) }, "objects: 101 values are too many"},
		"thresholds":         {func(d *notification.Declaration) { d.Thresholds = []int{0} }, "thresholds[0]: 0% is out of range"},
		"digest":             {func(d *notification.Declaration) { d.Digest = "soon" }, `digest: invalid duration "soon"`},
		"a short digest":     {func(d *notification.Declaration) { d.Digest = "1s" }, "digest: 1s is out of range"},
		"a digest of alerts": {func(d *notification.Declaration) { d.Type, d.Digest = notification.Alertmanager, "5m" }, "digest: alertmanager receives"},
		"quiet hours":        {func(d *notification.Declaration) { d.QuietHours = &notification.QuietHours{Start: "22", End: "07:00"} }, `quiet_hours.start: "22"`},
		"until midnight": {func(d *notification.Declaration) {
			d.QuietHours = &notification.QuietHours{Start: "20:00", End: "00:00"}
		}, ""},
		"empty quiet hours": {func(d *notification.Declaration) {
			d.QuietHours = &notification.QuietHours{Start: "07:00", End: "07:00"}
		}, "quiet_hours.end: "},
		"time zone":          {func(d *notification.Declaration) { d.TimeZone = "Mars" }, "time_zone: "},
		"the machine's zone": {func(d *notification.Declaration) { d.TimeZone = "Local" }, "time_zone: "},
		"page":               {func(d *notification.Declaration) { d.PageURL = "gpupool.example.com" }, "page_url: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := declared(notification.Slack)
			d.URL, d.URLVersion = "https://hooks.example.com/SECRET", 1
			c.change(&d)
			var texts []string
			for _, p := range d.Validate(time.LoadLocation) {
				texts = append(texts, p.String())
			}
			all := strings.Join(texts, "\n")
			if c.want == "" && all != "" || !strings.HasPrefix(all, c.want) || len(texts) > 1 {
				t.Errorf("got %q, want %q", all, c.want)
			}
			if strings.Contains(all, "SECRET") {
				t.Errorf("it quotes the address: %s", all)
			}
		})
	}
}

func TestTextsFitAndEndWithCharacters(t *testing.T) {
	t.Parallel()
	m := notification.Message{Notification: "ops", PageURL: "https://gpupool.example.com/"}
	for range 30 {
		m.Lines = append(m.Lines, notification.Line{
			At: begin, Kind: history.Exceeded, Object: "budget/团队", Text: strings.Repeat("已用完", 20), Severity: notification.Critical,
		})
	}
	for most := range 2100 {
		text := m.Text(most, nil)
		if len(text) > most || most > 200 && !strings.HasPrefix(text, "gpupool: critical: budget/团队: exceeded, and 29 more events\n") {
			t.Fatalf("%d bytes: %q", most, text)
		}
	}
	text := m.Text(2048, nil)
	if !strings.Contains(text, "2030-01-07 09:00 UTC  critical  budget/团队: exceeded: 已用完") ||
		strings.Count(text, "https://gpupool.example.com/budgets/团队\n") != 1 ||
		!strings.HasSuffix(text, " more: gpupool history lists them") {
		t.Errorf("%s", text)
	}
}

func TestWriteOnlyValuesAreKeptUntilTheirVersionChanges(t *testing.T) {
	t.Parallel()
	recorded := notification.Declaration{Name: "ops", URL: "https://old", URLVersion: 1}
	same, err := notification.Declaration{Name: "ops", URLVersion: 1}.WithWriteOnly(recorded)
	if err != nil || same.URL != "https://old" {
		t.Errorf("the same version: %q, %v", same.URL, err)
	}
	changed, err := notification.Declaration{Name: "ops", URL: "https://new", URLVersion: 2}.WithWriteOnly(recorded)
	if err != nil || changed.URL != "https://new" {
		t.Errorf("a new version: %q, %v", changed.URL, err)
	}
	if _, err := (notification.Declaration{Name: "ops", URLVersion: 2}).WithWriteOnly(recorded); err == nil || strings.Contains(err.Error(), "https://") {
		t.Errorf("a new version without a value: %v", err)
	}
}
