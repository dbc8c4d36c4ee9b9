package cli_test

import (
	"strings"
	"testing"
)

// The clock of Tencent Cloud dates what happens to instances. If it is ahead of this machine's, the
// history and explanations still show what just happened.
func TestHistoryUpToTheNewestEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 2)
	if _, err := w.control("POST", "clock", `{"step":"5m"}`); err != nil {
		t.Fatal(err)
	}
	w.reclaim("train")
	if p := w.start("reconcile", "--wait"); p.exitCode(t) != 0 {
		t.Fatal(p.stderr())
	}
	for _, args := range [][]string{{"history"}, {"history", "-o", "json"}, {"explain", "train"}} {
		p := w.start(args...)
		if code := p.exitCode(t); code != 0 || !strings.Contains(p.stdout(), "reclaim") {
			t.Errorf("%v: exit code %d, no reclaim in\n%s%s", args, code, p.stdout(), p.stderr())
		}
	}
}
