package cli_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

const (
	region   = "ap-singapore"
	gpuType  = "GN7.2XLARGE32"
	zoneA    = "ap-singapore-2"
	zoneB    = "ap-singapore-3"
	userData = "#!/bin/sh\necho user-data-is-secret\n"
)

// world is a local CVM and a store.
type world struct {
	tb  testing.TB
	sim *cvmsimtest.Sim
	dir string // the working directory; the store is in .gpupool

	mu      sync.Mutex
	streams []string // directories of the outputs of processes
}

func newWorld(tb testing.TB, dir string, opts ...func(*cvmsim.Options)) *world {
	tb.Helper()
	w := &world{tb: tb, sim: cvmsimtest.Start(tb, opts...), dir: dir}
	for _, zone := range []string{zoneA, zoneB} {
		stock, quota := int64(100), int64(1000)
		err := w.sim.Server.SetStock(cvmsim.StockRequest{AvailabilityZone: zone, InstanceType: gpuType, Stock: &stock, VCPUQuota: &quota})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return w
}

// environment is all that gpupool gets to know of its surroundings.
func (w *world) environment() []string {
	return []string{
		"HOME=" + w.dir, "USERPROFILE=" + w.dir, "TZ=UTC",
		"GPUPOOL_ENDPOINT=" + w.sim.URL,
		"GORACE=atexit_sleep_ms=0", // else each process of a -race binary ends a second late
		"TENCENTCLOUD_SECRET_ID=" + cvmsim.DemoSecretID,
		"TENCENTCLOUD_SECRET_KEY=" + cvmsim.DemoSecretKey,
		"TENCENTCLOUD_REGION=" + region,
	}
}

func (w *world) process() reconcile.World {
	w.tb.Helper()
	client, err := tencent.New(context.Background(), tencent.Config{
		Region: region, Endpoint: w.sim.URL, SecretID: cvmsim.DemoSecretID, SecretKey: cvmsim.DemoSecretKey,
	})
	if err != nil {
		w.tb.Fatal(err)
	}
	place, err := directory.Open(filepath.Join(w.dir, ".gpupool"), directory.Options{Create: true})
	if err != nil {
		w.tb.Fatal(err)
	}
	return reconcile.World{Cloud: client, Store: place, Actor: "test", PollInterval: 5 * time.Millisecond}
}

func declaration(name string, minimum, maximum int) spotpool.Declaration {
	return spotpool.Declaration{
		Name: name, Region: region, Minimum: minimum, Maximum: maximum,
		Offerings: []spotpool.Offering{
			{AvailabilityZone: zoneA, InstanceType: gpuType, SubnetID: "subnet-a1b2c3d4"},
			{AvailabilityZone: zoneB, InstanceType: gpuType, SubnetID: "subnet-e5f6a7b8"},
		},
		Configuration: spotpool.Configuration{
			VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4", SecurityGroupIDs: []string{"sg-a1b2c3d4"},
			KeyIDs: []string{"skey-a1b2c3d4"}, UserData: userData,
		},
	}.WithDefaults()
}

// create creates a pool as Terraform does.
func (w *world) create(name string, minimum, maximum int) spotpool.Declaration {
	w.tb.Helper()
	state, err := w.process().SpotPools().Create(context.Background(), declaration(name, minimum, maximum), 20*time.Second)
	if err != nil {
		w.tb.Fatalf("creating the pool: %v", err)
	}
	return state.Declaration
}

func (w *world) control(method, path, body string) ([]byte, error) {
	request, err := http.NewRequestWithContext(context.Background(), method, w.sim.URL+"/_sim/"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, answer)
	}
	return answer, err
}
