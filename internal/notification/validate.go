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
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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
	v.Name("name", d.Name, "notification")
	problem.OneOf(&v, "type", d.Type, Types()...)
	for n, kind := range d.Events {
		if !kind.Known() {
			v.Add(fmt.Sprintf("events[%d]", n), reason.InvalidEvent(reason.Quoted(kind)))
		}
	}
	for n, name := range d.Objects {
		if _, err := path.Match(name, ""); err != nil || !slices.ContainsFunc(kindsOfObjects, func(kind string) bool { return strings.HasPrefix(name, kind) }) {
			v.Add(fmt.Sprintf("objects[%d]", n), reason.InvalidSubject(reason.Quoted(name)))
		}
	}
	for n, percent := range d.Thresholds {
		v.Within(fmt.Sprintf("thresholds[%d]", n), int64(percent), 1, maxThreshold, reason.AlertRange)
	}
	for _, of := range []struct {
		attribute string
		count     int
	}{{"events", len(d.Events)}, {"objects", len(d.Objects)}, {"thresholds", len(d.Thresholds)}} {
		if of.count > maxList {
			v.Add(of.attribute, reason.TooManyValues(reason.Count(of.count), maxList))
		}
	}
	if d.Digest != "" {
		length, err := duration.Parse(d.Digest)
		if err != nil {
			v.Add("digest", reason.InvalidDigest(reason.Quoted(d.Digest)))
		} else {
			v.Lasts("digest", d.Digest, length, shortestDigest, longestDigest, reason.DigestRange)
		}
	}
	if d.Digest != "" && d.Type.Alerts() {
		v.Add("digest", reason.DigestOfAlerts(reason.Word(d.Type)))
	}
	d.validateTimes(&v, zones)
	if d.PageURL != "" && WebAddress(d.PageURL) == nil {
		v.Add("page_url", reason.InvalidPage(reason.Quoted(d.PageURL)))
	}
	d.validateReceiver(&v)
	return v
}

var kindsOfObjects = []string{"budget/", "spot_pool/", "stock_pool/", "run", "*"}

func (d Declaration) validateTimes(v *problem.List, zones budget.Zones) {
	if _, err := budget.ParseZone(d.TimeZone, zones); err != nil {
		v.Add("time_zone", reason.MessageTimeZone(reason.Failure(err)))
	}
	q := d.QuietHours
	if q == nil {
		return
	}
	for n, text := range []string{q.Start, q.End} {
		if minuteOf(text) < 0 {
			v.Add([]string{"quiet_hours.start", "quiet_hours.end"}[n], reason.InvalidTimeOfDay(reason.Quoted(text)))
		}
	}
	if q.Start == q.End {
		v.Add("quiet_hours.end", reason.QuietHoursNoEnd(reason.NewValue(q.Start)))
	}
}

// validateReceiver checks the write-only values that the type needs. No message quotes them.
func (d Declaration) validateReceiver(v *problem.List) {
	for n, version := range []int64{d.URLVersion, d.SecretVersion} {
		if attribute := []string{"url_wo", "secret_wo"}[n]; version < 0 {
			v.Add(attribute+"_version", reason.InvalidVersion(reason.Count(version), reason.Word(attribute)))
		}
	}
	switch {
	case d.Type == PagerDuty && d.SecretVersion == 0:
		v.Add("secret_wo", reason.PagerDutyNoSecret())
	case d.Type != PagerDuty && slices.Contains(Types(), d.Type) && d.URLVersion == 0:
		v.Add("url_wo", reason.ReceiverNoURL(reason.Word(d.Type)))
	}
	if (d.Type == Slack || d.Type == Teams || d.Type == WeCom) && d.SecretVersion != 0 {
		v.Add("secret_wo", reason.SecretUnused(reason.Word(d.Type)))
	}
	d.validateSecret(v)
	if d.URL == "" {
		return
	}
	u := WebAddress(d.URL)
	switch {
	case u == nil:
		v.Add("url_wo", reason.URLNotOfWeb())
	case u.Scheme != "https" && !loopback(u.Hostname()) && !((d.Type == Alertmanager || d.Type == Webhook) && inside(u.Hostname())):
		v.Add("url_wo", reason.URLUnencrypted())
	}
}

func (d Declaration) validateSecret(v *problem.List) {
	switch {
	case d.Secret == "":
	case strings.ContainsFunc(d.Secret, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		v.Add("secret_wo", reason.SecretSpaces())
	case d.Type == PagerDuty && len(d.Secret) != routingKeyLength:
		v.Add("secret_wo", reason.PagerDutyLength(routingKeyLength, reason.Count(len(d.Secret))))
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
