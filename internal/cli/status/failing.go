package status

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// addFailures adds the error of the last runs, the error of this observation unless it is
// the same or that of whole runs, and remedies.
func addFailures(d *describe.Details, clock terminal.Clock, last *declaration.Failing, now *outcome.ErrorReport, whole *declaration.Failing) {
	if last != nil {
		d.Add(terminal.Red, "failing: ", runsText(clock, *last)+": "+withoutRemedy(last.Error.Message, last.Error.Remedy))
		addRemedy(d, last.Error.Remedy)
	}
	if now == nil || same(*now, whole) || same(*now, last) {
		return
	}
	d.Add(terminal.Red, "failed: ", withoutRemedy(now.Message, now.Remedy))
	if last == nil || now.Remedy != last.Error.Remedy {
		addRemedy(d, now.Remedy)
	}
}

// same reports whether an observation fails with the error of the last runs.
func same(now outcome.ErrorReport, last *declaration.Failing) bool {
	if last == nil {
		return false
	}
	kept := strings.TrimSuffix(last.Error.Message, "…") // a long message is cut
	return strings.HasPrefix(now.Message, kept) || now.Code != "" && now.Code == last.Error.Code
}

// addPassedOver adds why the last runs skipped an object.
func addPassedOver(d *describe.Details, clock terminal.Clock, last *declaration.Failing) {
	if last != nil {
		d.Add(terminal.Yellow, "skipped: ", runsText(clock, *last)+": "+last.Error.Message)
	}
}

func addRemedy(d *describe.Details, remedy string) {
	if remedy != "" {
		d.Remedy(sentence(remedy))
	}
}

// runsText is the number of runs, and the time of the first.
func runsText(clock terminal.Clock, f declaration.Failing) string {
	if f.Runs == 1 {
		return "the last run, " + clock.When(f.LastAt)
	}
	return fmt.Sprintf("the last %d runs, since %s", f.Runs, clock.At(f.Since))
}

// withoutRemedy is an error message without its remedy, which has its own line.
func withoutRemedy(message, remedy string) string {
	remedy = strings.TrimSuffix(remedy, ".")
	at := strings.Index(message, remedy)
	if remedy == "" || at <= 0 {
		return message
	}
	before := strings.TrimRight(message[:at], " :")
	after := strings.TrimSpace(strings.TrimPrefix(message[at+len(remedy):], "."))
	return strings.TrimSpace(before + " " + after)
}

// sentence is a text with a capital and, unless it ends with a command, a full stop.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if strings.HasSuffix(text, ".") || strings.Contains(text, "\n") {
		return text
	}
	return text + "."
}
