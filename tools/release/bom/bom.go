// Package bom writes the bill of materials of a binary: CycloneDX in JSON. It bears
// the commit's time and no serial number, so that the same commit gives the same
// bytes.
package bom

import (
	"bytes"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"

	"github.com/gpupool/terraform-provider-gpupool/tools/release/linked"
	"github.com/gpupool/terraform-provider-gpupool/tools/release/source"
)

// mainPath is the module of what is released.
const mainPath = "github.com/gpupool/terraform-provider-gpupool"

// Of is the bill of materials of a platform's binary, of the modules linked into it.
func Of(s *source.Source, p source.Platform, modules []linked.Module) (string, error) {
	of := component(linked.Module{Path: mainPath, Version: "v" + s.Version, Licences: []string{"MPL-2.0"}})
	of.Type = cyclonedx.ComponentTypeApplication
	of.Properties = &[]cyclonedx.Property{
		{Name: "platform", Value: p.String()},
		{Name: "commit", Value: s.Commit},
		{Name: "go", Value: s.Go},
	}
	parts := make([]cyclonedx.Component, 0, len(modules))
	refs := make([]string, 0, len(modules))
	for _, m := range modules {
		part := component(m)
		parts, refs = append(parts, part), append(refs, part.BOMRef)
	}
	b := cyclonedx.NewBOM()
	b.Metadata = &cyclonedx.Metadata{Timestamp: s.Time.Format(time.RFC3339), Component: &of}
	b.Components = &parts
	b.Dependencies = &[]cyclonedx.Dependency{{Ref: of.BOMRef, Dependencies: &refs}}
	var text bytes.Buffer
	err := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(b)
	return text.String(), err
}

// component is a module as scanners look it up: by its package URL.
func component(m linked.Module) cyclonedx.Component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	licences := make(cyclonedx.Licenses, 0, len(m.Licences))
	for _, id := range m.Licences {
		licences = append(licences, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: id}})
	}
	return cyclonedx.Component{
		BOMRef: url, PackageURL: url, Type: cyclonedx.ComponentTypeLibrary, Scope: cyclonedx.ScopeRequired,
		Name: m.Path, Version: m.Version, Licenses: &licences,
	}
}
