package spotpool_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

func TestMain(m *testing.M) { providertest.Main(m) }

const address = "gpupool_spot_pool.train"

// attributes are a pool's arguments in HCL, by name.
type attributes map[string]string

// pool writes the resource train: two instances in two zones, changed by each
// of the given arguments; an empty one leaves the argument out.
func pool(changes ...attributes) string { return poolNamed("train", changes...) }

func poolNamed(name string, changes ...attributes) string {
	all := attributes{
		"name": `"train"`, "minimum": "2", "maximum": "4",
		"offerings": `[
			{ availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
			{ availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" },
		]`,
		"vpc_id": `"vpc-a1b2c3d4"`, "image_id": `"img-a1b2c3d4"`, "security_group_ids": `["sg-a1b2c3d4"]`, "key_ids": `["skey-a1b2c3d4"]`,
	}
	for _, c := range changes {
		for key, value := range c {
			all[key] = value
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "resource \"gpupool_spot_pool\" %q {\n", name)
	for key, value := range all {
		if value != "" {
			fmt.Fprintf(&b, "  %s = %s\n", key, value)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

var (
	launchOne      = regexp.MustCompile(`^launch 1 spot GN7\.2XLARGE32 in ap-singapore-[23]: capacity 1 is below minimum 2`)
	terminateThree = regexp.MustCompile(`^terminate ins-.* total 4 is above maximum 1`)
	protectedError = regexp.MustCompile(`protected from deletion`)
)

// reconcileUntilIdle has another process look after the pools until it finds
// nothing to do.
func reconcileUntilIdle(t *testing.T, w *providertest.World) {
	t.Helper()
	p := w.Process()
	for range 20 {
		report, err := p.Runner().Run(t.Context(), reconcile.RunOptions{Wait: true, WaitTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if !report.Changes() {
			return
		}
	}
	t.Fatal("reconcile never came to rest")
}
