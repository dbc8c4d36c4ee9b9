package cvm

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/launch"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

type describeLaunchTemplatesRequest struct {
	LaunchTemplateIDs []string       `json:"LaunchTemplateIds,omitempty"`
	Filters           []filterParams `json:"Filters,omitempty"`
	Offset            *int64         `json:"Offset,omitempty"`
	Limit             *int64         `json:"Limit,omitempty"`
}

type describeLaunchTemplatesResponse struct {
	TotalCount        int            `json:"TotalCount"`
	LaunchTemplateSet []wireTemplate `json:"LaunchTemplateSet"`
}

type wireTemplate struct {
	LatestVersionNumber        uint64 `json:"LatestVersionNumber"`
	LaunchTemplateID           string `json:"LaunchTemplateId"`
	LaunchTemplateName         string `json:"LaunchTemplateName"`
	DefaultVersionNumber       uint64 `json:"DefaultVersionNumber"`
	LaunchTemplateVersionCount int    `json:"LaunchTemplateVersionCount"`
	CreatedBy                  string `json:"CreatedBy"`
	CreationTime               string `json:"CreationTime"`
}

func describeLaunchTemplates(w *world.World, c *api.Call, p *describeLaunchTemplatesRequest) (*describeLaunchTemplatesResponse, *wire.Error) {
	if len(p.LaunchTemplateIDs) > 0 && len(p.Filters) > 0 {
		return nil, wire.Fail("InvalidParameter", "`LaunchTemplateIds` and `Filters` exclude each other.")
	}
	if failure := api.TemplateID.Check(p.LaunchTemplateIDs...); failure != nil {
		return nil, failure
	}
	filters, failure := readFilters(p.Filters, 5, oneOf("LaunchTemplateName"))
	if failure != nil {
		return nil, failure
	}
	var found []*world.Template
	for _, t := range w.TemplatesIn(c.Region) {
		if (len(p.LaunchTemplateIDs) == 0 || slices.Contains(p.LaunchTemplateIDs, t.ID)) && passes(filters, "LaunchTemplateName", t.Name) {
			found = append(found, t)
		}
	}
	from, to, failure := page(p.Offset, p.Limit, len(found))
	if failure != nil {
		return nil, failure
	}
	answer := &describeLaunchTemplatesResponse{TotalCount: len(found), LaunchTemplateSet: []wireTemplate{}}
	for _, t := range found[from:to] {
		answer.LaunchTemplateSet = append(answer.LaunchTemplateSet, wireTemplate{
			LatestVersionNumber: t.Latest, LaunchTemplateID: t.ID, LaunchTemplateName: t.Name, DefaultVersionNumber: t.Default,
			LaunchTemplateVersionCount: len(t.Versions), CreatedBy: c.Account.ID, CreationTime: t.CreatedAt.Format(wire.TimeLayout),
		})
	}
	return answer, nil
}

type describeLaunchTemplateVersionsRequest struct {
	LaunchTemplateID       *string  `json:"LaunchTemplateId,omitempty"`
	LaunchTemplateVersions []uint64 `json:"LaunchTemplateVersions,omitempty"`
	MinVersion             *uint64  `json:"MinVersion,omitempty"`
	MaxVersion             *uint64  `json:"MaxVersion,omitempty"`
	Offset                 *int64   `json:"Offset,omitempty"`
	Limit                  *int64   `json:"Limit,omitempty"`
	DefaultVersion         *bool    `json:"DefaultVersion,omitempty"`
}

type describeLaunchTemplateVersionsResponse struct {
	TotalCount               int                   `json:"TotalCount"`
	LaunchTemplateVersionSet []wireTemplateVersion `json:"LaunchTemplateVersionSet"`
}

type wireTemplateVersion struct {
	LaunchTemplateVersion            uint64        `json:"LaunchTemplateVersion"`
	LaunchTemplateVersionData        launch.Params `json:"LaunchTemplateVersionData"`
	CreationTime                     string        `json:"CreationTime"`
	LaunchTemplateID                 string        `json:"LaunchTemplateId"`
	IsDefaultVersion                 bool          `json:"IsDefaultVersion"`
	LaunchTemplateVersionDescription string        `json:"LaunchTemplateVersionDescription"`
	CreatedBy                        string        `json:"CreatedBy"`
}

// describeLaunchTemplateVersions lists the versions 0 to 30, unless told
// otherwise.
func describeLaunchTemplateVersions(w *world.World, c *api.Call, p *describeLaunchTemplateVersionsRequest) (*describeLaunchTemplateVersionsResponse, *wire.Error) {
	t, failure := findTemplate(w, c.Region, p.LaunchTemplateID)
	if failure != nil {
		return nil, failure
	}
	for _, number := range p.LaunchTemplateVersions {
		if _, failure := versionOf(t, number); failure != nil {
			return nil, failure
		}
	}
	var found []world.TemplateVersion
	for _, v := range t.Versions {
		named := len(p.LaunchTemplateVersions) == 0 || slices.Contains(p.LaunchTemplateVersions, v.Number)
		within := v.Number >= wire.Or(p.MinVersion, 0) && v.Number <= wire.Or(p.MaxVersion, maxTemplateVersions)
		if named && within && (!wire.Or(p.DefaultVersion, false) || v.Number == t.Default) {
			found = append(found, v)
		}
	}
	from, to, failure := page(p.Offset, p.Limit, len(found))
	if failure != nil {
		return nil, failure
	}
	answer := &describeLaunchTemplateVersionsResponse{TotalCount: len(found), LaunchTemplateVersionSet: []wireTemplateVersion{}}
	for _, v := range found[from:to] {
		answer.LaunchTemplateVersionSet = append(answer.LaunchTemplateVersionSet, wireTemplateVersion{
			LaunchTemplateVersion: v.Number, LaunchTemplateVersionData: v.Params, CreationTime: v.CreatedAt.Format(wire.TimeLayout),
			LaunchTemplateID: t.ID, IsDefaultVersion: v.Number == t.Default,
			LaunchTemplateVersionDescription: v.Description, CreatedBy: c.Account.ID,
		})
	}
	return answer, nil
}
