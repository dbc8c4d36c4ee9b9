package cvmsim

import (
	"cmp"
	"reflect"
	"slices"
	"time"
)

// Limits of launch templates (cvm client.go, CreateLaunchTemplateVersion).
const (
	maxTemplates        = 200
	maxTemplateVersions = 30
)

// launchTemplate is a set of launch parameters, in numbered versions.
type launchTemplate struct {
	ID, Region, Name string
	CreatedAt        time.Time
	Default, Latest  uint64
	Versions         []templateVersion // by number
}

type templateVersion struct {
	Number      uint64
	Description string
	CreatedAt   time.Time
	Params      launchParams
}

func (t *launchTemplate) key() string { return "template/" + t.ID }

func versionOf(t *launchTemplate, number uint64) (templateVersion, *apiError) {
	for _, v := range t.Versions {
		if v.Number == number {
			return v, nil
		}
	}
	return templateVersion{}, fail("InvalidParameterValue.LaunchTemplateIdVerNotExisted", "The launch template `%s` has no version %d.", t.ID, number)
}

type createLaunchTemplateRequest struct {
	launchParams
	LaunchTemplateName               *string            `json:"LaunchTemplateName,omitempty"`
	LaunchTemplateVersionDescription *string            `json:"LaunchTemplateVersionDescription,omitempty"`
	LaunchTemplateTagSpecification   []tagSpecification `json:"LaunchTemplateTagSpecification,omitempty"`
	TemplateDataModifyAction         *string            `json:"TemplateDataModifyAction,omitempty"`
	DryRun                           *bool              `json:"DryRun,omitempty"`
}

type createLaunchTemplateResponse struct {
	LaunchTemplateID string `json:"LaunchTemplateId,omitempty"`
}

func createLaunchTemplate(w *world, c *call, p *createLaunchTemplateRequest) (*createLaunchTemplateResponse, *apiError) {
	name := or(p.LaunchTemplateName, "")
	if name == "" {
		return nil, missing("LaunchTemplateName")
	}
	if len([]rune(name)) > maxNameRunes {
		return nil, fail("InvalidParameterValue.InvalidLaunchTemplateName", "`LaunchTemplateName` must have at most %d characters.", maxNameRunes)
	}
	description := or(p.LaunchTemplateVersionDescription, "")
	if failure := checkTemplate(c, p.launchParams, description); failure != nil {
		return nil, failure
	}
	if len(w.templatesIn(c.Region)) >= maxTemplates {
		return nil, fail("LimitExceeded.LaunchTemplateQuota", "There may be at most %d launch templates.", maxTemplates)
	}
	if or(p.DryRun, false) {
		return &createLaunchTemplateResponse{}, nil
	}
	at := c.now.UTC().Truncate(time.Second)
	p.ClientToken = nil // it is this call's, not that of launches to come
	t := &launchTemplate{
		Region: c.Region, Name: name, CreatedAt: at, Default: 1, Latest: 1,
		Versions: []templateVersion{{Number: 1, Description: description, CreatedAt: at, Params: p.launchParams}},
	}
	w.addTemplate(t)
	c.record.TookEffect = true
	return &createLaunchTemplateResponse{LaunchTemplateID: t.ID}, nil
}

// checkTemplate applies the checks of a launch to the parameters of a
// template.
func checkTemplate(c *call, p launchParams, description string) *apiError {
	switch {
	case p.LaunchTemplate != nil:
		return unknown("LaunchTemplate")
	case p.CPUTopology != nil:
		return unknown("CpuTopology")
	case p.LoginSettings != nil && p.LoginSettings.Password != nil:
		return fail("InvalidParameter.PasswordNotSupported", "A launch template can't hold a password.")
	case len([]rune(description)) > 256:
		return fail("InvalidParameterValue.InvalidLaunchTemplateVersionDescription", "`LaunchTemplateVersionDescription` must have at most 256 characters.")
	}
	_, failure := readLaunch(c.Region, p, c.now)
	return failure
}

type createLaunchTemplateVersionRequest struct {
	launchParams
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
func createLaunchTemplateVersion(w *world, c *call, p *createLaunchTemplateVersionRequest) (*createLaunchTemplateVersionResponse, *apiError) {
	t, failure := findTemplate(w, c.Region, p.LaunchTemplateID)
	if failure != nil {
		return nil, failure
	}
	base, failure := versionOf(t, or(p.LaunchTemplateVersion, t.Default))
	if failure != nil {
		return nil, failure
	}
	description := or(p.LaunchTemplateVersionDescription, "")
	params := overlay(base.Params, p.launchParams)
	params.ClientToken = nil // it is this call's, not that of launches to come
	if failure := checkTemplate(c, params, description); failure != nil {
		return nil, failure
	}
	if len(t.Versions) >= maxTemplateVersions {
		return nil, fail("LimitExceeded.LaunchTemplateVersionQuota", "A launch template may have at most %d versions.", maxTemplateVersions)
	}
	if or(p.DryRun, false) {
		return &createLaunchTemplateVersionResponse{}, nil
	}
	t.Latest++
	t.Versions = append(t.Versions, templateVersion{
		Number: t.Latest, Description: description, CreatedAt: c.now.UTC().Truncate(time.Second), Params: params,
	})
	w.touch(t.key())
	c.record.TookEffect = true
	return &createLaunchTemplateVersionResponse{LaunchTemplateVersionNumber: t.Latest}, nil
}

type deleteLaunchTemplateRequest struct {
	LaunchTemplateID *string `json:"LaunchTemplateId,omitempty"`
}

func deleteLaunchTemplate(w *world, c *call, p *deleteLaunchTemplateRequest) (*emptyResponse, *apiError) {
	t, failure := findTemplate(w, c.Region, p.LaunchTemplateID)
	if failure != nil {
		return nil, failure
	}
	w.removeTemplate(t)
	c.record.TookEffect = true
	return &emptyResponse{}, nil
}

type deleteLaunchTemplateVersionsRequest struct {
	LaunchTemplateID       *string  `json:"LaunchTemplateId,omitempty"`
	LaunchTemplateVersions []uint64 `json:"LaunchTemplateVersions,omitempty"`
}

func deleteLaunchTemplateVersions(w *world, c *call, p *deleteLaunchTemplateVersionsRequest) (*emptyResponse, *apiError) {
	t, failure := findTemplate(w, c.Region, p.LaunchTemplateID)
	if failure != nil {
		return nil, failure
	}
	if len(p.LaunchTemplateVersions) == 0 {
		return nil, missing("LaunchTemplateVersions")
	}
	for _, number := range p.LaunchTemplateVersions {
		if number == t.Default {
			return nil, fail("InvalidParameterValue.LaunchTemplateDefaultVersion", "The version %d is the default one.", number)
		}
		if _, failure := versionOf(t, number); failure != nil {
			return nil, failure
		}
	}
	t.Versions = slices.DeleteFunc(slices.Clone(t.Versions), func(v templateVersion) bool {
		return slices.Contains(p.LaunchTemplateVersions, v.Number)
	})
	w.touch(t.key())
	c.record.TookEffect = true
	return &emptyResponse{}, nil
}

type modifyLaunchTemplateDefaultVersionRequest struct {
	LaunchTemplateID *string `json:"LaunchTemplateId,omitempty"`
	DefaultVersion   *uint64 `json:"DefaultVersion,omitempty"`
}

func modifyLaunchTemplateDefaultVersion(w *world, c *call, p *modifyLaunchTemplateDefaultVersionRequest) (*emptyResponse, *apiError) {
	t, failure := findTemplate(w, c.Region, p.LaunchTemplateID)
	if failure != nil {
		return nil, failure
	}
	if p.DefaultVersion == nil {
		return nil, missing("DefaultVersion")
	}
	if _, failure := versionOf(t, *p.DefaultVersion); failure != nil {
		return nil, failure
	}
	if t.Default == *p.DefaultVersion {
		return nil, fail("InvalidParameterValue.LaunchTemplateIdVerSetAlready", "The version %d is the default one already.", t.Default)
	}
	t.Default = *p.DefaultVersion
	w.touch(t.key())
	c.record.TookEffect = true
	return &emptyResponse{}, nil
}

// template finds a template of the region.
func findTemplate(w *world, region string, id *string) (*launchTemplate, *apiError) {
	if or(id, "") == "" {
		return nil, missing("LaunchTemplateId")
	}
	if failure := checkID(templateID, "InvalidParameterValue.LaunchTemplateIdMalformed", *id); failure != nil {
		return nil, failure
	}
	t := w.template(*id)
	if t == nil || t.Region != region {
		return nil, fail("InvalidParameterValue.LaunchTemplateIdNotExisted", "The launch template `%s` does not exist.", *id)
	}
	return t, nil
}

// addTemplate puts a new template into the world, and gives it its id.
func (w *world) addTemplate(t *launchTemplate) {
	w.ordinal++
	t.ID = identifier("lt", w.ordinal)
	w.templates[t.ID] = t
	w.touch(worldKey)
	w.touch(t.key())
}

// template returns a template, or nil.
func (w *world) template(id string) *launchTemplate { return w.templates[id] }

func (w *world) removeTemplate(t *launchTemplate) {
	delete(w.templates, t.ID)
	w.touch(t.key())
}

func (w *world) templatesIn(region string) []*launchTemplate {
	var found []*launchTemplate
	for _, t := range w.templates {
		if t.Region == region {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b *launchTemplate) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return found
}

// resolveTemplate lays launch parameters over those of their template.
func resolveTemplate(w *world, region string, p launchParams) (launchParams, *apiError) {
	if p.LaunchTemplate == nil {
		return p, nil
	}
	t, failure := findTemplate(w, region, p.LaunchTemplate.LaunchTemplateID)
	if failure != nil {
		return p, failure
	}
	v, failure := versionOf(t, or(p.LaunchTemplate.LaunchTemplateVersion, t.Default))
	if failure != nil {
		return p, failure
	}
	return overlay(v.Params, p), nil
}

// overlay returns base with every parameter replaced that over gives.
func overlay(base, over launchParams) launchParams {
	out := base
	to, from := reflect.ValueOf(&out).Elem(), reflect.ValueOf(over)
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return out
}
