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

// addFailures says what the last runs failed with, what this observation fails with, unless
// that is the same or what runs failed with as a whole, and what to do.
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

// same says that an observation fails with what runs failed with.
func same(now outcome.ErrorReport, last *declaration.Failing) bool {
	if last == nil {
		return false
	}
	kept := strings.TrimSuffix(last.Error.Message, "…") // of a long one the beginning
	return strings.HasPrefix(now.Message, kept) || now.Code != "" && now.Code == last.Error.Code
}

// addPassedOver says why the last runs passed something over.
func addPassedOver(d *describe.Details, clock terminal.Clock, last *declaration.Failing) {
	if last != nil {
		d.Add(terminal.Yellow, "passed over: ", "by "+runsText(clock, *last)+": "+last.Error.Message)
	}
}

func addRemedy(d *describe.Details, remedy string) {
	if remedy != "" {
		d.Add(terminal.Bold, "to do: ", sentence(remedy))
	}
}

// runsText is how many runs it were, and since when.
func runsText(clock terminal.Clock, f declaration.Failing) string {
	if f.Runs == 1 {
		return "the last run, " + clock.When(f.LastAt)
	}
	return fmt.Sprintf("the last %d runs, since %s", f.Runs, clock.At(f.Since))
}

// withoutRemedy is an error's message without what to do about it, which is said on a
// line of its own.
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

// sentence is a text with a capital and a full stop.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
