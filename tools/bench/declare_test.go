//go:build unix

package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

const (
	region          = "ap-singapore"
	zone, otherZone = "ap-singapore-2", "ap-singapore-3"
	gpuType         = "GN7.2XLARGE32"
	machinesPerPool = 50
)

func pool(n int) spotpool.Declaration {
	return spotpool.Declaration{
		Name: fmt.Sprintf("pool-%04d", n), Region: region, UID: fmt.Sprintf("%032x", n+1), AccountID: cvmsim.DemoAccountID, Generation: 1,
		Minimum: machinesPerPool, Maximum: machinesPerPool + 10,
		Offerings:     []spotpool.Offering{{AvailabilityZone: zone, InstanceType: gpuType, SubnetID: "subnet-a1b2c3d4"}},
		Configuration: spotpool.Configuration{VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4"},
	}.WithDefaults()
}

// seedMachines has the local CVM make so many of each of so many pools.
func seedMachines(b *testing.B, sim *cvmsimtest.Sim, pools, each int) {
	b.Helper()
	for n := range pools {
		d := pool(n)
		cvmsimtest.Seed(b, sim, cvmsim.SeedRequest{
			Pool: d.Name, UID: d.UID, Seq: "1", Count: each, AvailabilityZone: zone, InstanceType: gpuType,
			Config: spotpool.ConfigurationTag(d.Configuration, d.Offerings[0], spotpool.Spot),
		})
	}
}

// declarePools writes records and journals of so many pools, the first of which have
// machines that are nodes of a cluster.
func declarePools(b *testing.B, dir string, pools, withNodes int, cluster string) {
	b.Helper()
	to := openStore(b, dir)
	for n := range pools {
		d := pool(n)
		if n < withNodes {
			d.Nodes, d.ClusterUID = &spotpool.Nodes{}, cluster
			d = d.WithDefaults()
		}
		declarePool(b, to, d)
	}
}

func declarePool(b *testing.B, to store.Store, d spotpool.Declaration) {
	b.Helper()
	// Without its journal, a pool launches nothing for a while.
	write(b, to, store.Journals, record.JournalName(d.Key(), d.UID), journal.Journal{}.Salted(d.UID))
	write(b, to, store.SpotPools, d.Key(), active(d))
}

func openStore(b *testing.B, dir string) store.Store {
	b.Helper()
	s, err := directory.Open(dir, directory.Options{Create: true})
	check(b, err)
	return s
}

func active[D any](d D) declaration.Record[D] {
	return declaration.Record[D]{Phase: declaration.Active, Declaration: d, UpdatedAt: time.Now(), UpdatedBy: "bench"}
}

func write[T declaration.Body](b *testing.B, to store.Store, kind store.Kind, name string, document T) {
	b.Helper()
	data, err := declaration.Encode(document)
	check(b, err)
	_, err = to.Write(b.Context(), store.Key{Kind: kind, Name: name}, data, "")
	check(b, err)
}
