package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, p *progress, text string) {
	t.Helper()
	if _, err := p.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

func TestProgressOfABuild(t *testing.T) {
	t.Parallel()
	p := &progress{name: "Kubernetes", expected: "last time 6m20s"}
	state := func(elapsed time.Duration, want string) {
		t.Helper()
		if got := p.line(elapsed); got != "Building Kubernetes: "+want {
			t.Errorf("the line is %q instead of %q", got, want)
		}
	}
	state(400*time.Millisecond, "looking for compiled packages, 0s")
	write(t, p, "go: downloading k8s.io/api v0.36.3\ngo: downl")
	write(t, p, "oading k8s.io/client-go v0.36.3\n")
	state(2*time.Second, "2 modules downloaded, 2s")
	p.setPackages("unsafe false\nfmt false\nk8s.io/api/core/v1 true\nk8s.io/client-go/rest true\nk8s.io/klog/v2 true\nexample.com/localkube false\n")
	state(3*time.Second, "0 of 3 packages, 3s")
	write(t, p, "k8s.io/api/core/v1\n# k8s.io/klog/v2\nklog.go:1: a warning\nk8s.io/klog/v2\n")
	state(61*time.Second, "2 of 3 packages, 1m1s")
	write(t, p, "k8s.io/client-go/rest\nexample.com/localkube\nthe end")
	state(5*time.Minute, "linking, 5m0s")
	if got, want := p.summary(6*time.Minute), "Built Kubernetes: 3 packages in 6m0s"; got != want {
		t.Errorf("the summary is %q", got)
	}
	if got, want := (&progress{name: "kubectl", lacking: 1}).summary(2*time.Second), "Built kubectl: 1 package in 2s"; got != want {
		t.Errorf("the summary of one package is %q", got)
	}
	if got, want := p.other(), "# k8s.io/klog/v2\nklog.go:1: a warning\nthe end"; got != want {
		t.Errorf("the output in addition to progress is %q", got)
	}
	long := &progress{name: "Kubernetes", expected: "last time 6m20s"}
	long.setPackages("fmt false\nk8s.io/klog/v2 true\nk8s.io/api true\n")
	if got, want := long.line(9*time.Second), "Building Kubernetes: 0 of 2 packages, 9s (last time 6m20s)"; got != want {
		t.Errorf("the line of a long build is %q", got)
	}
}

func TestLinesFitATerminal(t *testing.T) {
	t.Parallel()
	p := &progress{name: "Kubernetes", expected: "usually 5 to 8 minutes", packages: map[string]bool{"a": true}, lacking: 2331, compiled: 1204}
	const want = "Building Kubernetes: 1,204 of 2,331 packages, 12m34s (usually 5 to 8 minutes)"
	if got := p.line(754 * time.Second); got != want || len(got) > 79 {
		t.Errorf("%q has %d columns", got, len(got))
	}
}

func TestScreen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		rewrites bool
		length   int // seconds
		want     string
	}{
		{"a short build", true, 0, ""},
		{"a short build in a log", false, 0, ""},
		{"terminal", true, 3, clearLine + "1" + clearLine + "2" + clearLine + "3" + clearLine + "end\n"},
		{"log", false, 12, "1\n6\n11\nend\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			s := &screen{out: &out, rewrites: tt.rewrites, every: 5 * time.Second}
			for tenths := range tt.length*10 + 9 {
				elapsed := time.Duration(tenths) * time.Second / 10
				s.show(fmt.Sprint(int(elapsed.Seconds())), elapsed)
			}
			s.end("end")
			if out.String() != tt.want {
				t.Errorf("the screen shows %q instead of %q", out.String(), tt.want)
			}
		})
	}
}

// Only a build that compiles most of its packages says how long the next one takes.
func TestDurationOfALongBuildIsKept(t *testing.T) {
	t.Parallel()
	b := build{last: filepath.Join(t.TempDir(), "durations", "kubernetes"), usually: "5 to 8 minutes"}
	for _, tt := range []struct {
		packages string
		took     time.Duration
		expected string
	}{
		{"a false\nb true\n", 3 * time.Second, "usually 5 to 8 minutes"},
		{"a true\nb true\n", 380400 * time.Millisecond, "last time 6m20s"},
		{"a false\nb false\n", 3 * time.Second, "last time 6m20s"},
	} {
		p := &progress{}
		p.setPackages(tt.packages)
		if err := b.remember(p, tt.took); err != nil {
			t.Fatal(err)
		}
		if got := b.expected(); got != tt.expected {
			t.Errorf("after a build of %s, one is expected to take %q instead of %q", tt.took, got, tt.expected)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(b.last)); err != nil || len(entries) != 1 {
		t.Errorf("the folder of durations has %v: %v", entries, err)
	}
}
