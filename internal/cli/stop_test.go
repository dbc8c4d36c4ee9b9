package cli_test

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// A run that gets a signal finishes the launch that is under way, starts no
// other, and reports both.
func TestStopInTheMiddleOfALaunch(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		signal syscall.Signal
		code   int
		says   string
	}{
		"SIGTERM": {syscall.SIGTERM, 143, "gpupool: stopped by SIGTERM"},
		"SIGINT":  {syscall.SIGINT, 130, "gpupool: interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, t.TempDir())
			w.create("train", 2, 4)
			w.reclaim("train")
			launches := w.calls("RunInstances")
			w.fault(cvmsim.Fault{Kind: cvmsim.FaultSlow, Action: "RunInstances", Delay: cvmsim.Duration(300 * time.Millisecond)})
			p := w.start("reconcile", "--wait", "-o", "json", "--metrics-file", "m.prom")
			eventually(t, "the launch is asked for", func() bool { return w.calls("RunInstances") > launches })
			p.signal(t, tt.signal)
			if code := p.exitCode(t); code != tt.code {
				t.Errorf("the exit code is %d, not %d\n%s", code, tt.code, p.stderr())
			}
			report := p.report(t)
			if len(report.Decisions) != 1 || report.Decisions[0].Outcome != outcome.Done ||
				len(report.Decisions[0].Decision.(spotpool.Decision).InstanceIDs) != 1 {
				t.Errorf("the launch under way was not finished: %+v", report.Decisions)
			}
			if !strings.Contains(p.stderr(), tt.says) || !strings.Contains(p.stderr(), "finishing current calls") {
				t.Errorf("standard error: %s", p.stderr())
			}
			metrics, err := os.ReadFile(filepath.Join(w.dir, "m.prom"))
			if err != nil || !strings.Contains(string(metrics), "\ngpupool_run_success 0\n") {
				t.Errorf("metrics: %v\n%s", err, metrics)
			}
			if next := w.start("reconcile", "--wait"); next.exitCode(t) != 0 || w.calls("RunInstances") != launches+1 {
				t.Errorf("the next run launched again\n%s%s", next.stdout(), next.stderr())
			}
		})
	}
}

// A second signal ends the process at once; the run after it asks for the same
// launch again, and gets the same instance.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 2)
	w.reclaim("train")
	launches := w.calls("RunInstances")
	w.fault(cvmsim.Fault{Kind: cvmsim.FaultTimeoutAfter, Action: "RunInstances", Delay: cvmsim.Duration(time.Minute)})
	p := w.start("reconcile")
	eventually(t, "the launch is asked for", func() bool { return w.calls("RunInstances") > launches })
	stopped := time.Now()
	p.signal(t, syscall.SIGTERM)
	eventually(t, "the signal is heard", func() bool { return strings.Contains(p.stderr(), "send a second signal to stop at once") })
	p.signal(t, syscall.SIGTERM)
	if code := p.exitCode(t); code != 143 {
		t.Errorf("the exit code is %d", code)
	}
	if took := time.Since(stopped); took > 4*time.Second || !strings.Contains(p.stderr(), "not recorded") {
		t.Errorf("it took %s to end, and said %s", took, p.stderr())
	}
	next := w.start("reconcile", "--wait")
	if next.exitCode(t) != 0 {
		t.Errorf("%s%s", next.stdout(), next.stderr())
	}
	if n := len(w.sim.Server.Instances()); n != 1 {
		t.Errorf("there are %d instances, not 1", n)
	}
}

// While every call of Tencent Cloud hangs, a dry run stops at the first signal. Any other run
// stops soon after it, calls no further API, and records its result.
func TestSignalWhileTheCloudHangs(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--dry-run", "--quiet"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, t.TempDir())
			w.create("train", 1, 2)
			// A run ends with a search for remains of destroyed pools.
			if _, err := w.process().SpotPools().Delete(t.Context(), w.create("gone", 0, 1), 20*time.Second); err != nil {
				t.Fatal(err)
			}
			w.fault(cvmsim.Fault{Kind: cvmsim.FaultSlow, Delay: cvmsim.Duration(time.Minute), Action: "*", Count: -1})
			asked := len(w.sim.Server.Calls())
			p := w.start("reconcile", flag)
			eventually(t, "the cloud is asked", func() bool { return len(w.sim.Server.Calls()) > asked })
			stopped := time.Now()
			p.signal(t, syscall.SIGINT)
			if code := p.exitCode(t); code != 130 {
				t.Errorf("the exit code is %d", code)
			}
			if took := time.Since(stopped); took > 5*time.Second {
				t.Errorf("it took %s to end", took)
			}
			if strings.Contains(p.stderr(), "deadline exceeded") {
				t.Errorf("standard error: %s", p.stderr())
			}
		})
	}
}

// A service runs again and again, whatever happens in a run, until it is stopped
// between two of them.
func TestEvery(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 2)
	w.fault(cvmsim.Fault{Kind: cvmsim.FaultError, Action: "DescribeInstances", Code: "UnauthorizedOperation", Message: "Not today."})
	p := w.start("reconcile", "--every", "50ms", "-o", "json", "--metrics-file", "m.prom")
	eventually(t, "three runs", func() bool { return strings.Count(p.stdout(), "\n") >= 3 })
	p.signal(t, syscall.SIGTERM)
	if code := p.exitCode(t); code != 143 {
		t.Errorf("the exit code is %d\n%s", code, p.stderr())
	}
	var outcomes []outcome.Outcome
	for line := range strings.Lines(p.stdout()) {
		var report reconcile.Report
		if err := json.Unmarshal([]byte(line), &report); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		outcomes = append(outcomes, report.SpotPools[0].Outcome)
		// The run that the signal met, after three others, may have asked for nothing.
		if calls := report.Calls["DescribeInstances"]; calls != 1 && len(outcomes) <= 3 {
			t.Errorf("a run counts %d calls", calls)
		}
	}
	if outcomes[0] != outcome.Failed || outcomes[1] != outcome.Done {
		t.Errorf("the outcomes are %v", outcomes)
	}
	if !strings.Contains(p.stderr(), "gpupool: 1 of 1 pools failed\n") || !strings.Contains(p.stderr(), "Not today") {
		t.Errorf("standard error: %s", p.stderr())
	}
}

// Without a terminal, a repeated status prints one block after the other.
func TestStatusIsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 2)
	p := w.start("status", "--watch", "--interval", "100ms")
	eventually(t, "two looks", func() bool { return strings.Count(p.stdout(), "InSync") >= 2 })
	w.reclaim("train")
	eventually(t, "the loss shows", func() bool { return strings.Contains(p.stdout(), "Short") })
	w.fault(cvmsim.Fault{Kind: cvmsim.FaultError, Action: "DescribeInstances", Code: "UnauthorizedOperation", Message: "Not today."})
	eventually(t, "a failure shows", func() bool { return strings.Contains(p.stdout(), "Not today") })
	p.signal(t, syscall.SIGINT)
	if code := p.exitCode(t); code != 130 {
		t.Errorf("the exit code is %d\n%s", code, p.stderr())
	}
	if !strings.Contains(p.stdout(), "1.90\n\nStore ") || strings.Contains(p.stdout(), "\x1b") {
		t.Errorf("standard output: %q", p.stdout())
	}
}

// A reader that goes away neither stops a run nor is worth a complaint.
func TestReaderGoesAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 2)
	for _, args := range [][]string{{"status"}, {"status", "--watch", "--interval", "100ms", "-o", "json"}, {"reconcile", "--every", "100ms"}, {"reconcile"}} {
		w.reclaim("train")
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		read.Close()
		var stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), "gpupool", args...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.dir, append(w.environment(), "PATH="+os.Getenv("PATH")), write, &stderr
		if err := cmd.Run(); err != nil || stderr.Len() > 0 {
			t.Errorf("%v: %v\n%s", args, err, &stderr)
		}
		write.Close()
		if n := len(w.sim.Server.Instances()); args[0] == "reconcile" && n != 1 {
			t.Errorf("%v: there are %d instances", args, n)
		}
		if _, err := w.process().Runner().Run(t.Context(), reconcile.RunOptions{Wait: true, WaitTimeout: 20 * time.Second}); err != nil {
			t.Fatal(err)
		}
	}
}

// A run that takes longer than it may stops, and says how much was left.
func TestTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 2)
	w.fault(cvmsim.Fault{Kind: cvmsim.FaultTimeout, Action: "DescribeInstances", Count: -1, Delay: cvmsim.Duration(time.Minute)})
	p := w.start("reconcile", "--timeout", "2s")
	if code := p.exitCode(t); code != 1 {
		t.Errorf("the exit code is %d", code)
	}
	if !strings.Contains(p.stderr(), "the run was stopped after 2s (--timeout) with 1 of 1 pools left") {
		t.Errorf("standard error: %s", p.stderr())
	}
}

// Nothing comes on standard input, and the run can be stopped all the same.
func TestStopWhileTheStateIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 2)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	cmd := exec.CommandContext(t.Context(), "gpupool", "reconcile", "--from-state", "-", "--timeout", "200ms")
	cmd.Dir, cmd.Env, cmd.Stdin = w.dir, append(w.environment(), "PATH="+os.Getenv("PATH")), read
	output, err := cmd.CombinedOutput()
	read.Close()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(output), "from standard input: --timeout expired") {
		t.Errorf("%v\n%s", err, output)
	}
}

// The local CVM prints what a shell needs, serves, and ends well when told to.
func TestSimulate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	p := w.start("simulate", "--listen", "127.0.0.1:0", "--call-log", "calls.log", "--launch-delay", "0s")
	eventually(t, "the export lines", func() bool { return strings.Count(p.stdout(), "\n") == 5 })
	variables := map[string]string{}
	for line := range strings.Lines(p.stdout()) {
		assignment, found := strings.CutPrefix(strings.TrimSpace(line), "export ")
		name, value, _ := strings.Cut(assignment, "=")
		if variables[name] = value; !found {
			t.Errorf("%q is no export", line)
		}
	}
	offers := exec.CommandContext(t.Context(), "gpupool", "offers")
	offers.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir}
	for name, value := range variables {
		offers.Env = append(offers.Env, name+"="+value)
	}
	if output, err := offers.CombinedOutput(); err != nil || !strings.Contains(string(output), "GN7.2XLARGE32") {
		t.Errorf("%v\n%s", err, output)
	}
	p.signal(t, syscall.SIGTERM)
	if code := p.exitCode(t); code != 0 || p.stderr() != "" {
		t.Errorf("exit code %d\n%s", code, p.stderr())
	}
	log, err := os.ReadFile(filepath.Join(w.dir, "calls.log"))
	if err != nil || !strings.Contains(string(log), `"action":"GetCallerIdentity"`) || secretIn(string(log)) != "" {
		t.Errorf("%v\n%s", err, log)
	}
}

// An address that other machines can reach must be allowed, and one that is
// taken is said.
func TestSimulateRefusesAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for address, says := range map[string]string{"0.0.0.0:0": "--allow-non-loopback", taken.Addr().String(): "choose another address with --listen"} {
		p := w.start("simulate", "--listen", address)
		if code := p.exitCode(t); code != 1 || !strings.Contains(p.stderr(), says) || p.stdout() != "" {
			t.Errorf("%s: exit code %d\n%s", address, code, p.stderr())
		}
	}
}
