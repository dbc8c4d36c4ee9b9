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
	for args, want := range map[string]string{
		"history": "  lost     spot_pool/train  ins-", "history -o json": `"kind": "lost"`, "explain train": "instance just lost (ins-",
	} {
		p := w.start(strings.Fields(args)...)
		if code := p.exitCode(t); code != 0 || !strings.Contains(p.stdout(), want) {
			t.Errorf("%s: exit code %d, no %q in\n%s%s", args, code, want, p.stdout(), p.stderr())
		}
	}
}
