package oncall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

const (
	region  = "ap-singapore"
	gpuType = "GN7.2XLARGE32"
	zoneA   = "ap-singapore-2"
	zoneB   = "ap-singapore-3"

	healthy = 30               // healthy pools
	every   = 10 * time.Minute // a run is started
)

// night is when incidents of Tencent Cloud begin: at two o'clock in Singapore. Those of a
// cluster happen now, by the clock of its API server.
var night = time.Date(2040, 1, 15, 18, 0, 0, 0, time.UTC)

// scene is a local CVM and a store with thirty pools in sync.
type scene struct {
	t   *testing.T
	sim *cvmsimtest.Sim
	dir string // the working directory of gpupool; the store is in .gpupool
	env map[string]string
	// full leaves no room for what is written to files.
	full bool
}

func newScene(t *testing.T, template string) *scene {
	t.Helper()
	s := &scene{t: t, dir: t.TempDir(), env: map[string]string{"TZ": "Asia/Singapore"}}
	if err := os.CopyFS(s.dir, os.DirFS(template)); err != nil {
		t.Fatal(err)
	}
	s.sim = cvmsimtest.Start(t, cvmsimtest.Frozen, func(o *cvmsim.Options) {
		o.StateDir, o.LaunchDelay, o.TerminateDelay = filepath.Join(s.dir, "cloud"), -1, -1
	})
	s.env["GPUPOOL_ENDPOINT"] = s.sim.URL
	return s
}

// newNight is a scene at two o'clock at night, after successful runs.
func newNight(t *testing.T, template string) *scene {
	t.Helper()
	s := newScene(t, template)
	s.pass(night.Add(-2 * every).Sub(s.now()))
	s.runs(2, 0)
	return s
}

// newTemplate makes a folder with the state of a cloud and a store, in which the
// healthy pools are.
func newTemplate(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	server, err := cvmsim.New(cvmsim.Options{StateDir: filepath.Join(dir, "cloud"), LaunchDelay: -1})
	if err != nil {
		t.Fatal(err)
	}
	stock, quota := int64(100), int64(4000)
	for _, zone := range []string{zoneA, zoneB} {
		if err := server.SetStock(cvmsim.StockRequest{AvailabilityZone: zone, InstanceType: gpuType, Stock: &stock, VCPUQuota: &quota}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := newProcess(filepath.Join(dir, ".gpupool"), cvmsimtest.Serve(t, server).URL, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for n := range healthy {
		if _, err := p.SpotPools().Create(t.Context(), pool(fmt.Sprintf("infer-%02d", n+1), 1, 2), 20*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	forget(t, p.Store, filepath.Join(dir, ".gpupool", "history"))
	return dir
}

func forget(t *testing.T, place store.Store, history string) {
	t.Helper()
	documents, err := place.List(t.Context(), store.Journals)
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents {
		name := document.Key.Name
		old, err := record.Load[declaration.Journal](t.Context(), place, store.Journals, name)
		if err != nil {
			t.Fatal(err)
		}
		journal := old.Value
		journal.Unreported = nil
		if _, err := record.Save(t.Context(), place, store.Journals, name, old, journal); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(history); err != nil {
		t.Fatal(err)
	}
}

// newProcess is that of terraform apply, on the store in a directory.
func newProcess(dir, endpoint string, clock func() time.Time) (reconcile.World, error) {
	client, err := tencent.New(context.Background(), tencent.Config{
		Region: region, Endpoint: endpoint, SecretID: cvmsim.DemoSecretID, SecretKey: cvmsim.DemoSecretKey,
	})
	if err != nil {
		return reconcile.World{}, err
	}
	place, err := directory.Open(dir, directory.Options{Create: true, Command: "terraform"})
	if err != nil {
		return reconcile.World{}, err
	}
	return reconcile.World{Cloud: client, Store: place, Actor: "terraform", Clock: clock, PollInterval: 5 * time.Millisecond}, nil
}

func pool(name string, minimum, maximum int, changes ...func(*spotpool.Declaration)) spotpool.Declaration {
	d := spotpool.Declaration{
		Name: name, Region: region, Minimum: minimum, Maximum: maximum,
		Offerings: []spotpool.Offering{
			{AvailabilityZone: zoneA, InstanceType: gpuType, SubnetID: "subnet-a1b2c3d4"},
			{AvailabilityZone: zoneB, InstanceType: gpuType, SubnetID: "subnet-e5f6a7b8"},
		},
		Configuration: spotpool.Configuration{VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4", SecurityGroupIDs: []string{"sg-a1b2c3d4"}},
	}
	for _, change := range changes {
		change(&d)
	}
	return d.WithDefaults()
}

func (s *scene) now() time.Time { return s.sim.Server.Now() }

func (s *scene) pass(d time.Duration) {
	s.t.Helper()
	cvmsimtest.Step(s.t, s.sim, d)
}

func (s *scene) apply(d spotpool.Declaration) {
	s.t.Helper()
	if out, err := s.command(false, "apply", string(mustJSON(d))).CombinedOutput(); err != nil {
		s.t.Fatalf("apply: %v\n%s", err, out)
	}
}

func mustJSON(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return data
}

func (s *scene) command(tty bool, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), name, args...)
	if s.full {
		cmd = exec.CommandContext(s.t.Context(), "sh", append([]string{"-c", `ulimit -f 0; exec "$0" "$@"`, name}, args...)...)
	}
	cmd.Dir = s.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "TERM=xterm", "NO_COLOR=1",
		"GORACE=atexit_sleep_ms=0", // else each process of a -race binary ends a second late
		"TENCENTCLOUD_REGION=" + region, "TENCENTCLOUD_SECRET_ID=" + cvmsim.DemoSecretID, "TENCENTCLOUD_SECRET_KEY=" + cvmsim.DemoSecretKey,
		envNow + "=" + s.now().Format(time.RFC3339Nano),
	}
	if tty {
		cmd.Env = append(cmd.Env, envTTY+"=1")
	}
	for name, value := range s.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// run is one that a CronJob starts, and what it writes to its log.
func (s *scene) run(code int, args ...string) string {
	s.t.Helper()
	cmd := s.command(false, "gpupool", append([]string{"reconcile"}, args...)...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		s.t.Fatalf("the run ended with exit code %d, not %d\n%s", got, code, out)
	}
	return string(out)
}

// runs are some, each with its time before the next.
func (s *scene) runs(n, code int) {
	s.t.Helper()
	for range n {
		s.run(code)
		s.pass(every)
	}
}

func (s *scene) fault(f cvmsim.Fault) {
	s.t.Helper()
	if _, err := s.sim.Server.AddFault(f); err != nil {
		s.t.Fatal(err)
	}
}

// reclaim interrupts an instance of the pool train.
func (s *scene) reclaim() {
	s.t.Helper()
	if _, err := s.sim.Server.Reclaim(cvmsim.ReclaimRequest{Pool: "train"}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) soldOut(zones ...string) {
	s.t.Helper()
	none := int64(0)
	for _, zone := range zones {
		if err := s.sim.Server.SetStock(cvmsim.StockRequest{AvailabilityZone: zone, InstanceType: gpuType, Stock: &none}); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *scene) price(price string) {
	s.t.Helper()
	for _, zone := range []string{zoneA, zoneB} {
		if err := s.sim.Server.SetPrice(cvmsim.PriceRequest{AvailabilityZone: zone, InstanceType: gpuType, Price: price}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// kill starts a process, and kills it before it gets the response to a launch.
func (s *scene) kill(name string, args ...string) {
	s.t.Helper()
	s.fault(cvmsim.Fault{Kind: cvmsim.FaultTimeoutAfter, Action: "RunInstances", Delay: cvmsim.Duration(time.Minute)})
	before := s.launches()
	var out strings.Builder
	cmd := s.command(false, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); s.launches() == before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s does not launch", name)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	s.sim.Server.ClearFaults()
}

// dateLock has the run lock tell the scene's time: a directory's locks are dated by the
// machine.
func (s *scene) dateLock() {
	s.t.Helper()
	name := filepath.Join(s.dir, ".gpupool", "locks", "run.json")
	record := map[string]any{}
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, &record)
	}
	record["since"] = s.now().UTC().Format(time.RFC3339)
	if err == nil {
		err = os.WriteFile(name, mustJSON(record), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) launches() int {
	n := 0
	for _, c := range s.sim.Server.Calls() {
		if c.Action == "RunInstances" {
			n++
		}
	}
	return n
}
