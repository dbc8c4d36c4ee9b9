// Package bom writes the bill of materials of a binary: CycloneDX in JSON. It has the
// commit's time and no serial number, so that the same commit gives the same bytes.
package bom

import (
	"bytes"
	"errors"
	"strings"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"

	"github.com/gpupool/terraform-provider-gpupool/tools/release/linked"
)

const mainPath = "github.com/gpupool/terraform-provider-gpupool"

// Release is the source and the platform of a binary.
type Release struct {
	Version  string // without a v
	Commit   string
	Time     time.Time // of the commit
	Go       string    // such as "go1.26.8"
	Platform linked.Platform
}

// Of is the bill of materials of a binary, of the modules linked into it.
func Of(r Release, modules []linked.Module) (string, error) {
	of := component(linked.Module{Path: mainPath, Version: "v" + r.Version, Licenses: []string{"MPL-2.0"}})
	of.Type = cyclonedx.ComponentTypeApplication
	of.Properties = &[]cyclonedx.Property{
		{Name: "platform", Value: r.Platform.String()},
		{Name: "commit", Value: r.Commit},
		{Name: "go", Value: r.Go},
	}
	parts := make([]cyclonedx.Component, 0, len(modules))
	refs := make([]string, 0, len(modules))
	for _, m := range modules {
		part := component(m)
		parts, refs = append(parts, part), append(refs, part.BOMRef)
	}
	b := cyclonedx.NewBOM()
	b.Metadata = &cyclonedx.Metadata{Timestamp: r.Time.UTC().Format(time.RFC3339), Component: &of}
	b.Components = &parts
	b.Dependencies = &[]cyclonedx.Dependency{{Ref: of.BOMRef, Dependencies: &refs}}
	var text bytes.Buffer
	err := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(b)
	return text.String(), err
}

// ReleaseOf reads back what a bill of materials is about.
func ReleaseOf(materials string) (Release, error) {
	var b cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(strings.NewReader(materials), cyclonedx.BOMFileFormatJSON).Decode(&b); err != nil {
		return Release{}, err
	}
	if b.Metadata == nil || b.Metadata.Component == nil || b.Metadata.Component.Properties == nil {
		return Release{}, errors.New("the bill of materials does not name its release")
	}
	of := map[string]string{}
	for _, p := range *b.Metadata.Component.Properties {
		of[p.Name] = p.Value
	}
	at, err := time.Parse(time.RFC3339, b.Metadata.Timestamp)
	if err != nil {
		return Release{}, err
	}
	platform := linked.Platform{}
	platform.OS, platform.Arch, _ = strings.Cut(of["platform"], "/")
	version := strings.TrimPrefix(b.Metadata.Component.Version, "v")
	return Release{Version: version, Commit: of["commit"], Time: at, Go: of["go"], Platform: platform}, nil
}

// component is a module as scanners look it up: by its package URL.
func component(m linked.Module) cyclonedx.Component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	licenses := make(cyclonedx.Licenses, 0, len(m.Licenses))
	for _, id := range m.Licenses {
		licenses = append(licenses, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: id}})
	}
	return cyclonedx.Component{
		BOMRef: url, PackageURL: url, Type: cyclonedx.ComponentTypeLibrary, Scope: cyclonedx.ScopeRequired,
		Name: m.Path, Version: m.Version, Licenses: &licenses,
	}
}
