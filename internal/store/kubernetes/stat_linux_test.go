package kubernetes

import "testing"

func TestParseStat(t *testing.T) {
	t.Parallel()
	const rest = " 1 2 2 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 "
	for text, want := range map[string]struct {
		stat  processStat
		ended bool
	}{
		"42 (gpupool) S" + rest + "7 0 123456 0 0\n":    {processStat{"S", 7, 123456}, false},
		"42 (a) Z (b) ) R" + rest + "1 0 123456 0 0\n":  {processStat{"R", 1, 123456}, false},
		"42 (gpupool) Z" + rest + "1 0 123456 0 0\n":    {processStat{"Z", 1, 123456}, true},
		"42 (gpupool) X" + rest + "0 0 123456 0 0\n":    {processStat{"X", 0, 123456}, true},
		"42 (other runs) Z" + rest + "3 0 123456 0 0\n": {processStat{"Z", 3, 123456}, false},
	} {
		got, err := parseStat(text)
		if err != nil || got != want.stat || got.ended() != want.ended {
			t.Errorf("%q: got %+v, ended %v (%v), want %+v", text, got, got.ended(), err, want)
		}
	}
	for _, text := range []string{"", "42", "42 (gpupool", "42 (gpupool) S 1 2", "42 (gpupool) S" + rest + "x 0 1", "42 (gpupool) S" + rest + "1 0 -1"} {
		if got, err := parseStat(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

// TestThisProcessIsNotProvenDead asks it of itself, and of who started it.
func TestThisProcessIsNotProvenDead(t *testing.T) {
	t.Parallel()
	own, known := thisProcess()
	if !known || !own.sharesHost(own) {
		t.Fatalf("this process is not known: %+v", own)
	}
	if d := own.death(); d.proven() {
		t.Errorf("this process is said to be dead: %s", d.evidence)
	}
	if (death{}).proven() || (process{}).sharesHost(process{}) {
		t.Error("what is not known proves something")
	}
}
