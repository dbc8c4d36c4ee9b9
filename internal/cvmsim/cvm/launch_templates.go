package cvm

import (
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/launch"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// Limits of launch templates (cvm client.go, CreateLaunchTemplateVersion).
const (
	maxTemplates        = 200
	maxTemplateVersions = 30
)

func versionOf(t *world.Template, number uint64) (world.TemplateVersion, *wire.Error) {
	for _, v := range t.Versions {
		if v.Number == number {
			return v, nil
		}
	}
	return world.TemplateVersion{}, wire.Fail("InvalidParameterValue.LaunchTemplateIdVerNotExisted", "The launch template `%s` has no version %d.", t.ID, number)
}

type createLaunchTemplateRequest struct {
	launch.Params
	LaunchTemplateName               *string                   `json:"LaunchTemplateName,omitempty"`
	LaunchTemplateVersionDescription *string                   `json:"LaunchTemplateVersionDescription,omitempty"`
	LaunchTemplateTagSpecification   []launch.TagSpecification `json:"LaunchTemplateTagSpecification,omitempty"`
	TemplateDataModifyAction         *string                   `json:"TemplateDataModifyAction,omitempty"`
	DryRun                           *bool                     `json:"DryRun,omitempty"`
}

type createLaunchTemplateResponse struct {
	LaunchTemplateID string `json:"LaunchTemplateId,omitempty"`
}

func createLaunchTemplate(w *world.World, c *api.Call, p *createLaunchTemplateRequest) (*createLaunchTemplateResponse, *wire.Error) {
	name := wire.Or(p.LaunchTemplateName, "")
	if name == "" {
		return nil, wire.Missing("LaunchTemplateName")
	}
	if utf8.RuneCountInString(name) > maxNameRunes {
		return nil, wire.Fail("InvalidParameterValue.InvalidLaunchTemplateName", "`LaunchTemplateName` must have at most %d characters.", maxNameRunes)
	}
	description := wire.Or(p.LaunchTemplateVersionDescription, "")
	if failure := checkTemplate(c, p.Params, description); failure != nil {
		return nil, failure
	}
	if len(w.TemplatesIn(c.Region)) >= maxTemplates {
		return nil, wire.Fail("LimitExceeded.LaunchTemplateQuota", "There may be at most %d launch templates.", maxTemplates)
	}
	if wire.Or(p.DryRun, false) {
		return &createLaunchTemplateResponse{}, nil
	}
	at := c.Now.UTC().Truncate(time.Second)
	p.ClientToken = nil // it is this call's, not that of launches to come
	t := &world.Template{
		Region: c.Region, Name: name, CreatedAt: at, Default: 1, Latest: 1,
		Versions: []world.TemplateVersion{{Number: 1, Description: description, CreatedAt: at, Params: p.Params}},
	}
	w.AddTemplate(t)
	c.TookEffect()
	return &createLaunchTemplateResponse{LaunchTemplateID: t.ID}, nil
}

// checkTemplate applies the checks of a launch to the parameters of a
// template.
func checkTemplate(c *api.Call, p launch.Params, description string) *wire.Error {
	switch {
	case p.LaunchTemplate != nil:
		return wire.Unknown("LaunchTemplate")
	case p.CPUTopology != nil:
		return wire.Unknown("CpuTopology")
	case p.LoginSettings != nil && p.LoginSettings.Password != nil:
		return wire.Fail("InvalidParameter.PasswordNotSupported", "A launch template can't hold a password.")
	case utf8.RuneCountInString(description) > 256:
		return wire.Fail("InvalidParameterValue.InvalidLaunchTemplateVersionDescription", "`LaunchTemplateVersionDescription` must have at most 256 characters.")
	}
	_, failure := readLaunch(c.Region, p, c.Now)
	return failure
}

type createLaunchTemplateVersionRequest struct {
	launch.Params
	LaunchTemplateID                 *string `json:"LaunchTemplateId,omitempty"`
	LaunchTemplateVersion            *uint64 `json:"LaunchTemplateVersion,omitempty"`
	LaunchTemplateVersionDescription *string `json:"LaunchTemplateVersionDescription,omitempty"`
	TemplateDataModifyAction         *string `json:"TemplateDataModifyAction,omitempty"`
	DryRun                           *bool   `json:"DryRun,omitempty"`
}

type createLaunchTemplateVersionResponse struct {
	LaunchTemplateVersionNumber uint64 `json:"LaunchTemplateVersionNumber,omitempty"`
}

// createLaunchTemplateVersion makes a version that takes what it doesn't say
// from the version it is based on.
func createLaunchTemplateVersion(w *world.World, c *api.Call, p *createLaunchTemplateVersionRequest) (*createLaunchTemplateVersionResponse, *wire.Error) {
	t, failure := findTemplate(w, c.Region, p.LaunchTemplateID)
	if failure != nil {
		return nil, failure
	}
	base, failure := versionOf(t, wire.Or(p.LaunchTemplateVersion, t.Default))
	if failure != nil {
		return nil, failure
	}
	description := wire.Or(p.LaunchTemplateVersionDescription, "")
	params := overlay(base.Params, p.Params)
	params.ClientToken = nil // it is this call's, not that of launches to come
	if failure := checkTemplate(c, params, description); failure != nil {
		return nil, failure
	}
	if len(t.Versions) >= maxTemplateVersions {
		return nil, wire.Fail("LimitExceeded.LaunchTemplateVersionQuota", "A launch template may have at most %d versions.", maxTemplateVersions)
	}
	if wire.Or(p.DryRun, false) {
		return &createLaunchTemplateVersionResponse{}, nil
	}
	t.Latest++
	t.Versions = append(t.Versions, world.TemplateVersion{
		Number: t.Latest, Description: description, CreatedAt: c.Now.UTC().Truncate(time.Second), Params: params,
	})
	w.Changed(t)
	c.TookEffect()
	return &createLaunchTemplateVersionResponse{LaunchTemplateVersionNumber: t.Latest}, nil
}

type deleteLaunchTemplateRequest struct {
	LaunchTemplateID *string `json:"LaunchTemplateId,omitempty"`
}

func deleteLaunchTemplate(w *world.World, c *api.Call, p *deleteLaunchTemplateRequest) (*api.Empty, *wire.Error) {
	t, failure := findTemplate(w, c.Region, p.LaunchTemplateID)
	if failure != nil {
		return nil, failure
	}
	w.RemoveTemplate(t)
	c.TookEffect()
	return &api.Empty{}, nil
}

type deleteLaunchTemplateVersionsRequest struct {
	LaunchTemplateID       *string  `json:"LaunchTemplateId,omitempty"`
	LaunchTemplateVersions []uint64 `json:"LaunchTemplateVersions,omitempty"`
}

func deleteLaunchTemplateVersions(w *world.World, c *api.Call, p *deleteLaunchTemplateVersionsRequest) (*api.Empty, *wire.Error) {
	t, failure := findTemplate(w, c.Region, p.LaunchTemplateID)
	if failure != nil {
		return nil, failure
	}
	if len(p.LaunchTemplateVersions) == 0 {
		return nil, wire.Missing("LaunchTemplateVersions")
	}
	for _, number := range p.LaunchTemplateVersions {
		if number == t.Default {
			return nil, wire.Fail("InvalidParameterValue.LaunchTemplateDefaultVersion", "The version %d is the default one.", number)
		}
		if _, failure := versionOf(t, number); failure != nil {
			return nil, failure
		}
	}
	t.Versions = slices.DeleteFunc(slices.Clone(t.Versions), func(v world.TemplateVersion) bool {
		return slices.Contains(p.LaunchTemplateVersions, v.Number)
	})
	w.Changed(t)
	c.TookEffect()
	return &api.Empty{}, nil
}

type modifyLaunchTemplateDefaultVersionRequest struct {
	LaunchTemplateID *string `json:"LaunchTemplateId,omitempty"`
	DefaultVersion   *uint64 `json:"DefaultVersion,omitempty"`
}

func modifyLaunchTemplateDefaultVersion(w *world.World, c *api.Call, p *modifyLaunchTemplateDefaultVersionRequest) (*api.Empty, *wire.Error) {
	t, failure := findTemplate(w, c.Region, p.LaunchTemplateID)
	if failure != nil {
		return nil, failure
	}
	if p.DefaultVersion == nil {
		return nil, wire.Missing("DefaultVersion")
	}
	if _, failure := versionOf(t, *p.DefaultVersion); failure != nil {
		return nil, failure
	}
	if t.Default == *p.DefaultVersion {
		return nil, wire.Fail("InvalidParameterValue.LaunchTemplateIdVerSetAlready", "The version %d is the default one already.", t.Default)
	}
	t.Default = *p.DefaultVersion
	w.Changed(t)
	c.TookEffect()
	return &api.Empty{}, nil
}

// template finds a template of the region.
func findTemplate(w *world.World, region string, id *string) (*world.Template, *wire.Error) {
	if wire.Or(id, "") == "" {
		return nil, wire.Missing("LaunchTemplateId")
	}
	if failure := api.TemplateID.Check(*id); failure != nil {
		return nil, failure
	}
	t := w.Template(*id)
	if t == nil || t.Region != region {
		return nil, wire.Fail("InvalidParameterValue.LaunchTemplateIdNotExisted", "The launch template `%s` does not exist.", *id)
	}
	return t, nil
}

// resolveTemplate lays launch parameters over those of their template.
func resolveTemplate(w *world.World, region string, p launch.Params) (launch.Params, *wire.Error) {
	if p.LaunchTemplate == nil {
		return p, nil
	}
	t, failure := findTemplate(w, region, p.LaunchTemplate.LaunchTemplateID)
	if failure != nil {
		return p, failure
	}
	v, failure := versionOf(t, wire.Or(p.LaunchTemplate.LaunchTemplateVersion, t.Default))
	if failure != nil {
		return p, failure
	}
	return overlay(v.Params, p), nil
}

// overlay returns base with every parameter replaced that over gives.
func overlay(base, over launch.Params) launch.Params {
	out := base
	to, from := reflect.ValueOf(&out).Elem(), reflect.ValueOf(over)
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return out
}
