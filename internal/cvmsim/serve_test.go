package cvmsim_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

// serving runs ListenAndServe and returns its first lines of stdout, once it
// has printed them.
func serving(ctx context.Context, t *testing.T, c cvmsim.ServeConfig) (map[string]string, chan error) {
	t.Helper()
	out, in := io.Pipe()
	c.Stdout = in
	ended := make(chan error, 1)
	go func() {
		err := cvmsim.ListenAndServe(ctx, c)
		in.CloseWithError(err)
		ended <- err
	}()
	exports := map[string]string{}
	lines := bufio.NewScanner(out)
	for len(exports) < 5 && lines.Scan() {
		name, value, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		if !ok || !strings.HasPrefix(lines.Text(), "export ") {
			t.Fatalf("printed %q", lines.Text())
		}
		exports[name] = value
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return exports, ended
}

func TestServe(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log bytes.Buffer
	exports, ended := serving(ctx, t, cvmsim.ServeConfig{Listen: "127.0.0.1:0", Stderr: &log})
	base := exports["GPUPOOL_ENDPOINT"]
	want := map[string]string{
		"GPUPOOL_ENDPOINT": base, "GPUPOOL_METADATA_ENDPOINT": base, "TENCENTCLOUD_REGION": "ap-singapore",
		"TENCENTCLOUD_SECRET_ID": cvmsim.DemoSecretID, "TENCENTCLOUD_SECRET_KEY": cvmsim.DemoSecretKey,
	}
	if d := cmp.Diff(want, exports); d != "" || !strings.HasPrefix(base, "http://127.0.0.1:") || strings.HasSuffix(base, ":0") {
		t.Errorf("exports: %s\n%s", base, d)
	}
	a := cvmsimtest.NewClient(t, &cvmsimtest.Sim{URL: base})
	a.OK("cvm", "RunInstances", cvmsimtest.Launch(nil))
	for range 12 { // the rate limits are on
		if code := cvmsimtest.CodeOf(a.Call("cvm", "TerminateInstances",
			map[string]any{"InstanceIds": []string{"ins-nothere0"}})); code == "RequestLimitExceeded" {
			break
		}
	}
	cancel() // also on a machine too slow to meet them
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), `"action":"RunInstances"`) {
		t.Errorf("stderr has no log of calls: %s", &log)
	}
}

// A call that a fault holds back does not keep the server from ending.
func TestServeEndsWhileCallsHang(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	exports, ended := serving(ctx, t, cvmsim.ServeConfig{Listen: "127.0.0.1:0", Stderr: io.Discard})
	sim := &cvmsimtest.Sim{URL: exports["GPUPOOL_ENDPOINT"]}
	if status, answer := cvmsimtest.Control(t, sim, http.MethodPost, "faults", `{"kind":"timeout_after","delay":"1h"}`); status != http.StatusOK {
		t.Fatal(answer)
	}
	request := cvmsimtest.NewClient(t, sim).Signed("cvm", "RunInstances", cvmsimtest.Launch(nil))
	hung := make(chan error, 1)
	go func() {
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		hung <- err
	}()
	for { // until the call took effect
		if _, answer := cvmsimtest.Control(t, sim, http.MethodGet, "instances", ""); len(answer["instances"].([]any)) == 1 {
			break
		}
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the server hangs")
	}
	if err := <-hung; err == nil {
		t.Error("the call was answered")
	}
}

func TestServeRefusals(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	for name, test := range map[string]struct {
		config cvmsim.ServeConfig
		says   string
	}{
		"everywhere":          {cvmsim.ServeConfig{Listen: "0.0.0.0:0"}, "--allow-non-loopback"},
		"everywhere, unnamed": {cvmsim.ServeConfig{Listen: ":0"}, "--allow-non-loopback"},
		"an outside address":  {cvmsim.ServeConfig{Listen: "192.0.2.1:0"}, "--allow-non-loopback"},
		"a name":              {cvmsim.ServeConfig{Listen: "example.com:0"}, "--allow-non-loopback"},
		"no port":             {cvmsim.ServeConfig{Listen: "127.0.0.1"}, "host:port"},
		"a taken port":        {cvmsim.ServeConfig{Listen: taken.Addr().String()}, taken.Addr().String()},
		"an unknown region":   {cvmsim.ServeConfig{Listen: "127.0.0.1:0", Region: "mars-north"}, "ap-singapore"},
		"a state that is a file": {cvmsim.ServeConfig{Listen: "127.0.0.1:0", Options: cvmsim.Options{StateDir: "serve_test.go"}},
			"state directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout bytes.Buffer
			test.config.Stdout, test.config.Stderr = &stdout, io.Discard
			err := cvmsim.ListenAndServe(t.Context(), test.config)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want it to say %q", err, test.says)
			}
			if stdout.Len() != 0 {
				t.Errorf("printed %q", &stdout)
			}
		})
	}
}

func TestServeEverywhereIfTold(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	exports, ended := serving(ctx, t, cvmsim.ServeConfig{Listen: "0.0.0.0:0", AllowNonLoopback: true, Stderr: io.Discard, Region: "ap-tokyo"})
	if !strings.HasPrefix(exports["GPUPOOL_ENDPOINT"], "http://127.0.0.1:") || exports["TENCENTCLOUD_REGION"] != "ap-tokyo" {
		t.Errorf("exports: %v", exports)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
