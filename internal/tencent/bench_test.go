package tencent

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

func BenchmarkObserveRegion(b *testing.B) {
	sim := cvmsimtest.Start(b)
	if _, err := sim.Server.Seed(cvmsim.SeedRequest{
		Pool: "train", UID: "uid-1", Seq: "1", Config: "1:abc", Count: 5000, AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32",
	}); err != nil {
		b.Fatal(err)
	}
	client, err := New(b.Context(), testConfig(sim.URL))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if seen, _, err := client.ObserveRegion(b.Context(), testRegion); err != nil || len(seen) != 5000 {
			b.Fatal(len(seen), err)
		}
	}
}
