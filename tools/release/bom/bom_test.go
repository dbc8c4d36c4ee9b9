package bom

import (
	"strings"
	"testing"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"

	"github.com/gpupool/terraform-provider-gpupool/tools/release/linked"
)

func TestBillOfMaterials(t *testing.T) {
	t.Parallel()
	r := Release{
		Version: "0.1.0", Commit: "0123456789abcdef", Time: time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC), Go: "go1.26.8",
		Platform: linked.Platform{OS: "linux", Arch: "amd64"},
	}
	modules := []linked.Module{
		{Path: "example.com/a", Version: "v1.2.3", Licenses: []string{"Apache-2.0", "MIT"}},
		{Path: "std", Version: "1.26.8", Licenses: []string{"BSD-3-Clause"}},
	}
	text, err := Of(r, modules)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := Of(r, modules); again != text {
		t.Error("the same modules give another bill")
	}
	if of, err := ReleaseOf(text); err != nil || of != r {
		t.Errorf("read back, it is about %+v: %v", of, err)
	}
	var read cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(strings.NewReader(text), cyclonedx.BOMFileFormatJSON).Decode(&read); err != nil {
		t.Fatal(err)
	}
	if of := read.Metadata.Component; of.Version != "v0.1.0" || of.Type != cyclonedx.ComponentTypeApplication {
		t.Errorf("it is about %+v", of)
	}
	parts := *read.Components
	if len(parts) != 2 || parts[0].PackageURL != "pkg:golang/example.com/a@v1.2.3" || len(*parts[0].Licenses) != 2 {
		t.Errorf("its parts are %+v", parts)
	}
	if dependencies := *read.Dependencies; len(dependencies) != 1 || len(*dependencies[0].Dependencies) != 2 {
		t.Errorf("its dependencies are %+v", dependencies)
	}
}
