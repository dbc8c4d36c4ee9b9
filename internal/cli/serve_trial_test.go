package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
)

// The flags of make serve-trial.
var (
	trialFor  = flag.Duration("serve-trial", 4*time.Second, "for how long servers are killed under load")
	trialJobs = flag.Int("serve-jobs", 20, "how many jobs are submitted meanwhile")
)

func noticeLimit() time.Duration {
	if *trialFor > time.Minute {
		return 5 * time.Second
	}
	return 15 * time.Second
}

const (
	trialPools   = 4
	trialBudgets = 40
	trialServers = 2
)

// trial is two servers and a cron job of one store, which are killed at random.
type trial struct {
	*world
	t        *testing.T
	budgets  map[string]budget.Declaration
	pools    map[string]string // uids
	deadline time.Time
	held     int // how many pools are put on hold

	mu    sync.Mutex
	urls  [trialServers]string
	jobs  []request.Job // that were accepted
	kills int
	reads int
}

func newTrial(t *testing.T, length time.Duration) *trial {
	t.Helper()
	r := &trial{world: newWorld(t, t.TempDir()), t: t, held: trialPools, budgets: map[string]budget.Declaration{}, pools: map[string]string{}}
	for n := range trialPools {
		name := fmt.Sprintf("train-%d", n)
		r.pools[name] = r.create(name, 1, 2).UID
	}
	d := reconciletest.NewFixture(t)
	d.Dir = filepath.Join(r.dir, ".gpupool")
	for n := range trialBudgets {
		b := d.Declare(func(b *budget.Declaration) { b.Name = fmt.Sprintf("team-%d", n) })
		r.budgets[b.Name] = b
	}
	r.deadline = time.Now().Add(length)
	return r
}

func (r *trial) over() bool { return time.Now().After(r.deadline) }

// request is the nth one, and its path.
func (r *trial) request(n int) (path string, body any) {
	span, reason := request.Span{Duration: "4h"}, fmt.Sprintf("trial %d", n)
	switch n % 5 {
	case 0:
		return "/runs", struct{}{}
	case 1:
		return fmt.Sprintf("/spotpools/%s/train-%d/holds", region, n/5%r.held), request.Hold{Span: span, Reason: reason}
	default:
		return fmt.Sprintf("/budgets/team-%d/grants", n%trialBudgets), request.Grant{GPUHours: "1", Span: span, Reason: reason}
	}
}

// submit submits the nth request until a server accepts it. A client does not know whether one that was
// killed had accepted it.
func (r *trial) submit(n int) {
	path, body := r.request(n)
	fields, err := json.Marshal(body)
	if err != nil {
		r.t.Error(err)
		return
	}
	var values map[string]any
	_ = json.Unmarshal(fields, &values)
	delete(values, "pool") // are in the path
	delete(values, "budget")
	fields, _ = json.Marshal(values)
	for attempt := 0; ; attempt++ {
		job, err := r.post(r.url(n+attempt), path, fmt.Sprintf("trial-%d", n), fields)
		if err == nil {
			r.mu.Lock()
			r.jobs = append(r.jobs, job)
			r.mu.Unlock()
			return
		}
		if attempt > 3000 {
			r.t.Errorf("request %d: %v", n, err)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (r *trial) post(url, path, key string, body []byte) (job request.Job, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		return job, err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Idempotency-Key", key)
	response, err := http.DefaultClient.Do(q)
	if err != nil {
		return job, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return job, err
	}
	if response.StatusCode != http.StatusAccepted {
		return job, fmt.Errorf("%s: %s", response.Status, text)
	}
	return job, json.Unmarshal(text, &job)
}

func (r *trial) url(n int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.urls[n%trialServers]
}

// serve keeps a server running, and kills it at random until the trial is over.
func (r *trial) serve(n int) {
	for !r.over() {
		p := r.start("serve", "--listen", "127.0.0.1:0", "--every", "1s")
		var url string
		for began := time.Now(); url == "" && time.Since(began) < 30*time.Second; time.Sleep(5 * time.Millisecond) {
			_, url, _ = strings.Cut(strings.TrimSpace(p.stdout()), " at ")
		}
		r.mu.Lock()
		r.urls[n] = url
		r.mu.Unlock()
		lives := 500 + rand.IntN(5000) //nolint:gosec // a test
		time.Sleep(min(time.Duration(lives)*time.Millisecond, time.Until(r.deadline)))
		r.kill(p)
	}
}

func (r *trial) kill(p *started) {
	if err := p.Process.Signal(syscall.SIGKILL); err != nil {
		r.t.Error(err)
	}
	_ = p.Wait() // it was killed
	if strings.Contains(p.stderr(), "panic:") {
		r.t.Errorf("a process failed: %s", p.stderr())
	}
	r.mu.Lock()
	r.kills++
	r.mu.Unlock()
}

// cron reconciles once in a while, and kills each third run.
func (r *trial) cron() {
	for n := 0; !r.over(); n++ {
		p := r.start("reconcile")
		if n%3 == 0 {
			time.Sleep(time.Duration(rand.IntN(600)) * time.Millisecond) //nolint:gosec // a test
			r.kill(p)
		} else {
			_ = p.Wait() // another run may be under way
		}
		time.Sleep(time.Second)
	}
}

// read reads both servers, and checks that no counter falls, whichever server has it.
func (r *trial) read() {
	highest := map[string]float64{}
	for n := 0; !r.over(); n++ {
		_, _ = fetched(r.url(n) + "/api/v1/budgets")
		code, text := fetched(r.url(n) + "/metrics")
		if code != http.StatusOK {
			time.Sleep(20 * time.Millisecond) // it was killed
			continue
		}
		r.reads++
		r.check(highest, text)
		time.Sleep(50 * time.Millisecond)
	}
}

func (r *trial) check(highest map[string]float64, metrics string) {
	for line := range strings.Lines(metrics) {
		series, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name, _, _ := strings.Cut(series, "{"); !strings.HasSuffix(name, "_total") {
			continue
		}
		value, err := strconv.ParseFloat(number, 64)
		if err != nil || value < highest[series] {
			r.t.Errorf("%s fell from %v to %s", series, highest[series], number)
		}
		highest[series] = value
	}
}

// fetched is page for a server that may be killed.
func fetched(url string) (int, string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, ""
	}
	response, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, ""
	}
	return response.StatusCode, string(text)
}

// TestServersAreKilledUnderLoad kills two servers and a cron job at random while clients submit jobs.
// Each job is done once, none is lost, and no counter falls.
func TestServersAreKilledUnderLoad(t *testing.T) {
	t.Parallel()
	r := newTrial(t, *trialFor)
	var all sync.WaitGroup
	for n := range trialServers {
		all.Go(func() { r.serve(n) })
	}
	all.Go(r.cron)
	all.Go(r.read)
	submitted := make(chan struct{})
	go func() {
		defer close(submitted)
		pace := *trialFor * 8 / 10 / time.Duration(*trialJobs)
		for n := range *trialJobs {
			r.submit(n)
			time.Sleep(pace)
		}
	}()
	all.Wait()
	r.finish(submitted)
	r.verify()
	t.Logf("%d jobs, %d kills, %d reads of the metrics", len(r.jobs), r.kills, r.reads)
}

// finish lets a server do the jobs that are left.
func (r *trial) finish(submitted <-chan struct{}) {
	r.deadline = time.Now().Add(5 * time.Minute)
	last := r.start("serve", "--listen", "127.0.0.1:0", "--every", "1s")
	eventually(r.t, "the last server listens", func() bool { return strings.Contains(last.stdout(), " at ") })
	_, url, _ := strings.Cut(strings.TrimSpace(last.stdout()), " at ")
	r.mu.Lock()
	r.urls = [trialServers]string{url, url}
	r.mu.Unlock()
	<-submitted
	r.settle()
	last.signal(r.t, syscall.SIGTERM)
	last.exitCode(r.t)
}

// settle waits until all jobs are finished.
func (r *trial) settle() {
	queue := r.process().Jobs()
	for {
		jobs, unreadable, err := queue.Jobs(context.Background())
		open := 0
		for _, job := range jobs {
			if !job.State.Finished() {
				open++
			}
		}
		switch {
		case err != nil || len(unreadable) > 0:
			r.t.Fatal(err, unreadable)
		case open == 0:
			return
		case r.over():
			r.t.Fatalf("%d of %d jobs are not finished", open, len(jobs))
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// verify checks that each accepted job succeeded, and that its effect is there exactly once.
func (r *trial) verify() {
	ctx, w := context.Background(), r.process()
	jobs, _, err := w.Jobs().Jobs(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	if len(jobs) != *trialJobs || len(r.jobs) != *trialJobs {
		r.t.Errorf("%d requests were accepted, and the store has %d jobs; %d were submitted", len(r.jobs), len(jobs), *trialJobs)
	}
	effects := map[string]int{}
	repository := record.Repository{Store: w.Store}
	for _, b := range r.budgets {
		grants, err := record.Grants(repository).Of(ctx, b.UID)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, g := range grants.List {
			effects[g.ID]++
		}
	}
	for _, uid := range r.pools {
		holds, err := record.Holds(repository).Of(ctx, uid)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, h := range holds.List {
			effects[h.ID]++
		}
	}
	for _, job := range jobs {
		if job.State != request.Succeeded {
			r.t.Errorf("the %s job of %s is %s: %+v", job.Type, job.Object, job.State, job.Error)
		}
		if job.Type != request.TypeRun && effects[job.EffectID] != 1 {
			r.t.Errorf("the %s job of %s was done %d times", job.Type, job.Object, effects[job.EffectID])
		}
		delete(effects, job.EffectID)
	}
	if len(effects) > 0 {
		r.t.Errorf("there are effects without a job: %v", effects)
	}
}
