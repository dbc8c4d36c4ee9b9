package notification

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/problem"
)

const (
	shortestDigest = time.Minute
	longestDigest  = 24 * time.Hour
	maxThreshold   = 1000
	maxList        = 100
)

// Validate returns the problems that can be found without the receiver. The values of write-only
// arguments are checked if they are known.
func (d Declaration) Validate(zones budget.Zones) []problem.Problem {
	var v problem.List
	v.Name("name", d.Name, "a notification")
	problem.OneOf(&v, "type", d.Type, Types()...)
	for n, kind := range d.Events {
		if !kind.Known() {
			v.Add(fmt.Sprintf("events[%d]", n), "Use kinds of gpupool history, such as \"exceeded\".", "%q is not a kind of event", kind)
		}
	}
	for n, name := range d.Objects {
		if _, err := path.Match(name, ""); err != nil || !slices.ContainsFunc(kindsOfObjects, func(kind string) bool { return strings.HasPrefix(name, kind) }) {
			v.Add(fmt.Sprintf("objects[%d]", n),
				"Use budget/NAME, spot_pool/REGION/NAME, stock_pool/NAMESPACE/NAME or run, or a glob such as \"budget/team-*\".", "%q is not an object", name)
		}
	}
	for n, percent := range d.Thresholds {
		v.Within(fmt.Sprintf("thresholds[%d]", n), int64(percent), 1, maxThreshold, "%", "Use an alert threshold of a budget, such as 80.")
	}
	for _, of := range []struct {
		attribute string
		count     int
	}{{"events", len(d.Events)}, {"objects", len(d.Objects)}, {"thresholds", len(d.Thresholds)}} {
		if of.count > maxList {
			v.Add(of.attribute, "Use a glob, or several notifications.", "%d values are too many: at most %d", of.count, maxList)
		}
	}
	if d.Digest != "" {
		length, err := duration.Parse(d.Digest)
		if err != nil {
			v.Add("digest", "Use a duration such as \"15m\".", "invalid duration %q", d.Digest)
		} else {
			v.Lasts("digest", d.Digest, length, shortestDigest, longestDigest, "Use a duration such as \"15m\".")
		}
	}
	if d.Digest != "" && d.Type.Alerts() {
		v.Add("digest", "Omit digest. The receiver groups alerts.", "%s receives alerts one by one", d.Type)
	}
	d.validateTimes(&v, zones)
	if d.PageURL != "" && WebAddress(d.PageURL) == nil {
		v.Add("page_url", "Use the address of gpupool serve, such as \"https://gpupool.example.com\".", "%q is not a web address", d.PageURL)
	}
	d.validateReceiver(&v)
	return v
}

var kindsOfObjects = []string{"budget/", "spot_pool/", "stock_pool/", "run", "*"}

func (d Declaration) validateTimes(v *problem.List, zones budget.Zones) {
	if _, err := budget.ParseZone(d.TimeZone, zones); err != nil {
		v.Add("time_zone", "Use an IANA name such as \"Asia/Shanghai\".", "%v", err)
	}
	q := d.QuietHours
	if q == nil {
		return
	}
	for n, text := range []string{q.Start, q.End} {
		if minuteOf(text) < 0 {
			v.Add([]string{"quiet_hours.start", "quiet_hours.end"}[n], "Use hours and minutes, such as \"22:00\".", "%q is not a time of day", text)
		}
	}
	if q.Start == q.End {
		v.Add("quiet_hours.end", "Use two different times, or omit quiet_hours.", "quiet hours that start and end at %s have no length", q.Start)
	}
}

// validateReceiver checks the write-only values that the type needs. No message quotes them.
func (d Declaration) validateReceiver(v *problem.List) {
	const newVersion = "Start with 1, and increase it with each change of "
	for n, version := range []int64{d.URLVersion, d.SecretVersion} {
		if attribute := []string{"url_wo", "secret_wo"}[n]; version < 0 {
			v.Add(attribute+"_version", newVersion+attribute+".", "%d is not a version", version)
		}
	}
	switch {
	case d.Type == PagerDuty && d.SecretVersion == 0:
		v.Add("secret_wo", "Set secret_wo to the integration key of an Events API v2 integration, and secret_wo_version to 1.", "pagerduty needs a secret")
	case d.Type != PagerDuty && slices.Contains(Types(), d.Type) && d.URLVersion == 0:
		v.Add("url_wo", "Set url_wo to the address that the receiver gave you, and url_wo_version to 1.", "%s needs an address", d.Type)
	}
	if (d.Type == Slack || d.Type == Teams || d.Type == WeCom) && d.SecretVersion != 0 {
		v.Add("secret_wo", "Remove it. The address contains the receiver's secret.", "%s has no secret", d.Type)
	}
	d.validateSecret(v)
	if d.URL == "" {
		return
	}
	u := WebAddress(d.URL)
	switch {
	case u == nil:
		v.Add("url_wo", "Use the address that the receiver gave you.", "it is not a web address")
	case u.Scheme != "https" && !loopback(u.Hostname()) && !((d.Type == Alertmanager || d.Type == Webhook) && inside(u.Hostname())):
		v.Add("url_wo", "Use an address that starts with https://.", "it would send the message and its secret without encryption")
	}
}

func (d Declaration) validateSecret(v *problem.List) {
	switch {
	case d.Secret == "":
	case strings.ContainsFunc(d.Secret, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		v.Add("secret_wo", "Copy the secret again.", "it contains a space or a control character")
	case d.Type == PagerDuty && len(d.Secret) != routingKeyLength:
		v.Add("secret_wo", "Use the integration key of an Events API v2 integration.", "an integration key has %d characters, and this one has %d",
			routingKeyLength, len(d.Secret))
	}
}

const routingKeyLength = 32

// WebAddress returns an absolute address of the web; nil if it is not one.
func WebAddress(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil
	}
	return u
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// inside reports whether a host is one of a cluster or of a private network.
func inside(host string) bool {
	ip, err := netip.ParseAddr(host)
	if err == nil {
		return ip.IsPrivate()
	}
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".svc") || strings.HasSuffix(host, ".svc.cluster.local")
}

var timeOfDay = regexp.MustCompile(`^([01][0-9]|2[0-3]):([0-5][0-9])$`)

// minuteOf returns the minute of a day that a text such as "22:00" names, or -1.
func minuteOf(text string) int {
	parts := timeOfDay.FindStringSubmatch(text)
	if parts == nil {
		return -1
	}
	hour, _ := strconv.Atoi(parts[1]) // two digits
	minute, _ := strconv.Atoi(parts[2])
	return hour*60 + minute
}

// lengthOf returns a duration of a validated declaration; 0 if it is empty.
func lengthOf(text string) time.Duration {
	length, err := duration.Parse(text)
	if err != nil {
		return 0
	}
	return length
}
