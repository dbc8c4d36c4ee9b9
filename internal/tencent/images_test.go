package tencent

import (
	"strings"
	"sync"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
)

// A launch without keys keeps the image's login, which a public image does not have. The error
// has the remedy.
func TestAPublicImageWithoutKeysIsRefused(t *testing.T) {
	t.Parallel()
	_, client := startSim(t)
	r := testRequest()
	r.ImageID, r.KeyIDs = "img-487zeit5", nil
	_, _, err := client.Launch(t.Context(), r)
	if cloud := cloudError(t, err); cloud.Class != errorclass.Configuration || !cloud.NothingLaunched ||
		!strings.Contains(err.Error(), "Set key_ids, or use a custom image") {
		t.Errorf("%+v", cloud)
	}
	// Another refusal of a launch without keys keeps its own remedy.
	r = testRequest()
	r.VPCID, r.KeyIDs = "vpc-!", nil
	_, _, err = client.Launch(t.Context(), r)
	if cloud := cloudError(t, err); strings.Contains(cloud.Remedy.String(), "key_ids") {
		t.Errorf("%+v", cloud)
	}
}

func TestImageTypes(t *testing.T) {
	t.Parallel()
	_, client := startSim(t)
	for id, want := range map[string]ImageType{
		"img-487zeit5": ImagePublic, "img-shared00": ImageShared, "img-import00": ImagePrivate, "img-a1b2c3d4": ImagePrivate,
	} {
		if got, err := client.ImageType(t.Context(), testRegion, id); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", id, got, err, want)
		}
	}
}

// However many ask about an image, it is looked up once, a refusal too.
func TestAnImageIsLookedUpOnce(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]cvmsim.Fault{
		"found": {Kind: cvmsim.FaultSlow}, "not allowed": {Kind: cvmsim.FaultError, Code: "UnauthorizedOperation"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, client := startSim(t)
			fault.Action, fault.Delay = "DescribeImages", 1
			addFault(t, sim, fault)
			var group sync.WaitGroup
			for range 20 {
				group.Go(func() {
					if _, err := client.ImageType(t.Context(), testRegion, "img-a1b2c3d4"); (err != nil) != (fault.Code != "") {
						t.Error(err)
					}
				})
			}
			group.Wait()
			if n := client.Calls()["DescribeImages"]; n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

func TestAnImageThatIsNotThere(t *testing.T) {
	t.Parallel()
	url := answering(t, map[string]any{"DescribeImages": map[string]any{"TotalCount": 0, "ImageSet": []any{}}})
	if kind, err := newClient(t, testConfig(url)).ImageType(t.Context(), testRegion, "img-a1b2c3d4"); kind != ImageUnknown || err != nil {
		t.Errorf("%q, %v", kind, err)
	}
}
