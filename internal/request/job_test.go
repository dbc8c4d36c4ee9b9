package request_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func aRun() request.Request { return request.Request{Run: &request.Run{}} }

func TestLimitsAreCounted(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]request.LimitError{
		"the namespace ml allows 1 pod and 1 GPU for requested stock pools: 1 pod with 1 GPU exists, and this request adds 1 pod with 1 GPU": {
			Limits: request.Limits{Pods: 1, GPUs: 1}, Existing: request.Size{Pods: 1, GPUs: 1}, Requested: request.Size{Pods: 1, GPUs: 1},
		},
		"the namespace ml allows 8 GPUs for requested stock pools: 0 pods with 0 GPUs exist, and this request adds 3 pods with 12 GPUs": {
			Limits: request.Limits{GPUs: 8}, Requested: request.Size{Pods: 3, GPUs: 12},
		},
	} {
		if e.Namespace = "ml"; e.Error() != want {
			t.Errorf("got %q, want %q", e.Error(), want)
		}
	}
}

// TestAJobNeverLeavesAFinishedState: whatever states are requested in whatever order, a job is
// claimed before it is done, and stays finished.
func TestAJobNeverLeavesAFinishedState(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		job, now := request.New("1", aRun(), "ann", noon), noon
		claimed := false
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 3600).Draw(t, "passed")) * time.Second)
			next := rapid.SampledFrom(request.States()).Draw(t, "next")
			after, err := job.To(next, now)
			var state *request.StateError
			switch {
			case err != nil && (!errors.As(err, &state) || after.State != job.State || !after.UpdatedAt.Equal(job.UpdatedAt)):
				t.Fatalf("%s to %s: %v, %+v", job.State, next, err, after)
			case err != nil:
				continue
			case job.State.Finished():
				t.Fatalf("%s became %s", job.State, next)
			case next == request.Queued:
				t.Fatalf("%s became queued again", job.State)
			case (next == request.Succeeded || next == request.Failed) && !claimed:
				t.Fatalf("it became %s, and no run claimed it", next)
			case (next == request.Canceled || next == request.Expired) && claimed:
				t.Fatalf("it became %s after a run claimed it", next)
			case next == request.Running && after.Overdue(now.Add(1000*time.Hour)):
				t.Fatal("a running job expires")
			case next.Finished() && (after.Overdue(now.Add(request.FinishedLifetime-time.Second)) || !after.Overdue(now.Add(request.FinishedLifetime))):
				t.Fatalf("a finished job is deleted at %s", after.ExpiresAt)
			}
			claimed = claimed || next == request.Running
			job = after
		}
	})
}

func TestIDsAreUniqueByRequesterAndKey(t *testing.T) {
	t.Parallel()
	if first, again := request.ID("ann", "k"), request.ID("ann", "k"); first != again {
		t.Error("the ID of a key differs")
	}
	if request.ID("ann", "k") == request.ID("bob", "k") || request.ID("an", "nk") == request.ID("ann", "k") {
		t.Error("two requesters have the same ID")
	}
}

func TestOutputHidesEnvironments(t *testing.T) {
	t.Parallel()
	pool := request.StockPool{SpecName: "g1.1", Replicas: 1, Env: map[string]string{"TOKEN": "secret"}}
	job := request.New("0123456789", request.Request{StockPool: &pool}, "ann", noon)
	if job.Public().Request.StockPool.Env["TOKEN"] != request.Hidden || job.Request.StockPool.Env["TOKEN"] != "secret" {
		t.Errorf("the environment is %v, and stored as %v", job.Public().Request.StockPool.Env, job.Request.StockPool.Env)
	}
	if job.Object != "stock_pool/default/g1-1-01234567" {
		t.Errorf("its object is %s", job.Object)
	}
}

func TestBadRequestsNameTheAttribute(t *testing.T) {
	t.Parallel()
	day := request.Span{Duration: "1d"}
	for at, r := range map[string]request.Request{
		"request":         {},
		"request ":        {Run: &request.Run{}, Hold: &request.Hold{}},
		"grant.budget":    {Grant: &request.Grant{Budget: "Team", GPUHours: "5", Span: day, Reason: "night"}},
		"grant.gpu_hours": {Grant: &request.Grant{Budget: "team-a", GPUHours: "-5", Span: day, Reason: "night"}},
		"grant.reason":    {Grant: &request.Grant{Budget: "team-a", GPUHours: "5", Span: day}},
		"grant.duration":  {Grant: &request.Grant{Budget: "team-a", GPUHours: "5", Reason: "night"}},
		"grant.duration ": {Grant: &request.Grant{Budget: "team-a", GPUHours: "5", Span: request.Span{Duration: "31d"}, Reason: "night"}},
		"grant.duration  ": {Grant: &request.Grant{
			Budget: "team-a", GPUHours: "5", Span: request.Span{Duration: "1h", Until: noon.Add(time.Hour)}, Reason: "n",
		}},
		"hold.duration":       {Hold: &request.Hold{Pool: "train", Span: request.Span{Duration: "1s"}, Reason: "night"}},
		"hold.until":          {Hold: &request.Hold{Pool: "train", Span: request.Span{Until: noon.Add(-time.Hour)}, Reason: "night"}},
		"grant.until":         {Grant: &request.Grant{Budget: "team-a", GPUHours: "5", Span: request.Span{Until: noon.Add(60 * 24 * time.Hour)}, Reason: "n"}},
		"stock_pool.until":    {StockPool: &request.StockPool{Name: "g1", SpecName: "g1.1", Image: "nginx", Memory: "1Gi", Span: request.Span{Until: noon}}},
		"hold.duration ":      {Hold: &request.Hold{Pool: "ap-singapore/train", Span: request.Span{Duration: "soon"}, Reason: "night"}},
		"hold.pool":           {Hold: &request.Hold{Pool: "a/b/c", Span: day, Reason: "night"}},
		"stock_pool.image":    {StockPool: &request.StockPool{Name: "g1", SpecName: "g1.1", Image: "Nginx latest"}},
		"stock_pool.duration": {StockPool: &request.StockPool{Name: "g1", SpecName: "g1.1", Span: request.Span{Duration: "31d"}}},
		"stock_pool.env":      {StockPool: &request.StockPool{Name: "g1", SpecName: "g1.1", Env: map[string]string{"A": strings.Repeat("x", 70_000)}}},
	} {
		if r.StockPool != nil {
			*r.StockPool = r.StockPool.WithDefaults("1")
		}
		err := r.Validate("ann", noon)
		var invalid *request.InvalidError
		if !errors.As(err, &invalid) || len(invalid.Problems) != 1 || invalid.Problems[0].Attribute != strings.TrimSpace(at) {
			t.Errorf("the error of %s is %v", at, err)
		}
	}
	over := request.Request{Hold: &request.Hold{Pool: "train", Span: request.Span{Until: noon.Add(-400 * 24 * time.Hour)}, Reason: "night"}}
	if err := over.Validate("ann", noon); err == nil || !strings.Contains(err.Error(), "hold.until: its end 2025-01-25T12:00:00Z is over.") {
		t.Errorf("the error of an end in the past is %v", err)
	}
	if err := aRun().Validate("ann\x1b[2J", noon); err == nil {
		t.Error("a requester with control characters is accepted")
	}
	if err := request.ValidateKey("a b"); err == nil {
		t.Error("a key with a space is accepted")
	}
}

func TestLimitsCountTheLargestSize(t *testing.T) {
	t.Parallel()
	pool := request.StockPool{SpecName: "g1.1", GPU: 2, Replicas: 1, ReplicasPolicy: "available", Maximum: 4}
	size := request.SizeOf(pool.Declaration())
	if size != (request.Size{Pods: 4, GPUs: 8}) {
		t.Fatalf("its size is %+v", size)
	}
	for _, c := range []struct {
		limits  request.Limits
		allowed bool
	}{{request.Limits{}, true}, {request.Limits{Pods: 5, GPUs: 10}, true}, {request.Limits{Pods: 4}, false}, {request.Limits{GPUs: 9}, false}} {
		err := c.limits.Check("ml", request.Size{Pods: 1, GPUs: 2}, size)
		if (err == nil) != c.allowed {
			t.Errorf("%+v: %v", c.limits, err)
		}
	}
}

// TestJobsOfEarlierVersionsKeepTheirReasons, which those stored as texts.
func TestJobsOfEarlierVersionsKeepTheirReasons(t *testing.T) {
	t.Parallel()
	var job request.Job
	if err := json.Unmarshal([]byte(`{"id": "a", "state": "expired", "reasons": ["no run claimed it in time"]}`), &job); err != nil {
		t.Fatal(err)
	}
	if got := job.Reasons.Texts(); len(got) != 1 || got[0] != "no run claimed it in time" || job.Reasons[0].Code != reason.OtherVersion("").Code {
		t.Errorf("its reasons are %+v", job.Reasons)
	}
}
