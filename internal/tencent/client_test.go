package tencent

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

const testRegion = "ap-singapore"

// testConfig is a configuration for a local CVM: quick retries, no rate limits.
func testConfig(url string) Config {
	return Config{
		Endpoint: url, Region: testRegion,
		SecretID: cvmsim.DemoSecretID, SecretKey: cvmsim.DemoSecretKey,
		BackoffBase: time.Millisecond, BackoffCap: 4 * time.Millisecond,
		RateLimits: unlimited(),
	}
}

func unlimited() map[string]float64 {
	rates := map[string]float64{"GetCallerIdentity": 0, "DescribeAccountQuota": 0, "AssumeRole": 0, "AssumeRoleWithWebIdentity": 0}
	for action := range defaultRates {
		rates[action] = 0
	}
	return rates
}

func newClient(t *testing.T, config Config) *Client {
	t.Helper()
	client, err := New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func startSim(t *testing.T, change ...func(*Config)) (*cvmsim.Server, *Client) {
	t.Helper()
	sim := cvmsimtest.Start(t)
	config := testConfig(sim.URL)
	for _, f := range change {
		f(&config)
	}
	return sim.Server, newClient(t, config)
}

func testRequest() spotpool.Request {
	return spotpool.Request{
		Region: testRegion, Pool: "train", UID: "uid-1", Sequence: 7, SeqTag: 7, Token: launches.Token("uid-1", "salt", 7),
		Offering:   spotpool.Offering{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-a1b2c3d4", SpotMaxPrice: 50_000_000},
		ChargeType: spotpool.Spot, Count: 2, ConfigurationTag: "1:abc",
		Configuration: spotpool.Configuration{
			VPCID: "vpc-a1b2c3d4", SecurityGroupIDs: []string{"sg-a1b2c3d4"}, ImageID: "img-a1b2c3d4", KeyIDs: []string{"skey-a1b2c3d4"},
			SystemDiskType: "CLOUD_BSSD", SystemDiskSize: 100, DataDisks: []spotpool.DataDisk{{Type: "CLOUD_BSSD", Size: 200}},
			InternetMaxBandwidthOut: 1, InternetChargeType: "BANDWIDTH_POSTPAID_BY_HOUR",
			UserData: "#!/bin/sh\necho hello\n", CamRoleName: "gpu-node", ProjectID: 3, Tags: map[string]string{"team": "a", "env": "test"},
		},
	}
}

func seed(t *testing.T, sim *cvmsim.Server, request cvmsim.SeedRequest) []string {
	t.Helper()
	orDefault(&request.AvailabilityZone, "ap-singapore-2")
	orDefault(&request.InstanceType, "GN7.2XLARGE32")
	ids, err := sim.Seed(request)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func addFault(t *testing.T, sim *cvmsim.Server, fault cvmsim.Fault) {
	t.Helper()
	if _, err := sim.AddFault(fault); err != nil {
		t.Fatal(err)
	}
}

func callsOf(sim *cvmsim.Server, action string) []cvmsim.Call {
	var list []cvmsim.Call
	for _, c := range sim.Calls() {
		if c.Action == action {
			list = append(list, c)
		}
	}
	return list
}

func cloudError(t *testing.T, err error) *spotpool.CloudError {
	t.Helper()
	cloud, ok := spotpool.AsCloudError(err)
	if !ok {
		t.Fatalf("no CloudError: %v", err)
	}
	return cloud
}

// recorder keeps the body of each request that goes to a handler.
type recorder struct {
	next http.Handler

	mu      sync.Mutex
	bodies  map[string][][]byte // by action
	headers map[string]http.Header
}

func record(t *testing.T, next http.Handler) (*recorder, string) {
	t.Helper()
	r := &recorder{next: next, bodies: map[string][][]byte{}, headers: map[string]http.Header{}}
	server := httptest.NewServer(r)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return r, server.URL
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the client is gone
	}
	action := request.Header.Get("X-TC-Action")
	r.mu.Lock()
	r.bodies[action] = append(r.bodies[action], body)
	r.headers[action] = request.Header.Clone()
	r.mu.Unlock()
	request.Body = io.NopCloser(bytes.NewReader(body))
	r.next.ServeHTTP(w, request)
}

func (r *recorder) sent(action string) [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bodies[action]
}

// answering is a cloud that answers each action with fixed content, and the
// caller's identity with an account.
func answering(t *testing.T, answers map[string]any) string {
	t.Helper()
	_, url := record(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content := answers[r.Header.Get("X-TC-Action")]
		if r.Header.Get("X-TC-Action") == "GetCallerIdentity" && content == nil {
			content = map[string]any{"AccountId": "100000000001"}
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(map[string]any{"Response": content}); err != nil {
			t.Error(err)
		}
	}))
	return url
}

func step(t *testing.T, sim *cvmsim.Server, d time.Duration) {
	t.Helper()
	if _, err := sim.StepClock(d); err != nil {
		t.Fatal(err)
	}
}

func TestACanceledCallEndsPromptly(t *testing.T) {
	t.Parallel()
	calls := map[string]func(context.Context, *Client) error{
		"launch":  func(ctx context.Context, c *Client) error { _, _, err := c.Launch(ctx, testRequest()); return err },
		"observe": func(ctx context.Context, c *Client) error { _, _, err := c.ObserveRegion(ctx, testRegion); return err },
		"terminate": func(ctx context.Context, c *Client) error {
			_, err := c.Terminate(ctx, testRegion, []spotpool.Instance{{ID: "ins-a1b2c3d4", Region: testRegion}})
			return err
		},
		"markets": func(ctx context.Context, c *Client) error { _, err := c.Markets(ctx, testRegion); return err },
		"tag": func(ctx context.Context, c *Client) error {
			return c.Tag(ctx, testRegion, []string{"ins-a1b2c3d4"}, map[string]string{"a": "b"})
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, client := startSim(t)
			if _, err := client.AccountID(t.Context()); err != nil {
				t.Fatal(err)
			}
			addFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultTimeout, Count: -1, Delay: cvmsim.Duration(time.Minute)})
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(30*time.Millisecond, cancel)
			started := time.Now()
			err := call(ctx, client)
			if took := time.Since(started); took > 5*time.Second {
				t.Errorf("took %s", took)
			}
			if !isCanceled(err) {
				t.Fatalf("not the context's error: %v", err)
			}
		})
	}
}
