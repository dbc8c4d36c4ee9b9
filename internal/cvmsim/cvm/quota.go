package cvm

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

type describeAccountQuotaRequest struct {
	Filters []filterParams `json:"Filters,omitempty"`
}

type describeAccountQuotaResponse struct {
	AppID                uint64            `json:"AppId"`
	AccountQuotaOverview wireQuotaOverview `json:"AccountQuotaOverview"`
}

type wireQuotaOverview struct {
	Region       string           `json:"Region"`
	AccountQuota wireAccountQuota `json:"AccountQuota"`
}

type wireAccountQuota struct {
	PostPaidQuotaSet             []wireQuota `json:"PostPaidQuotaSet"`
	PrePaidQuotaSet              []wireQuota `json:"PrePaidQuotaSet"`
	SpotPaidQuotaSet             []wireQuota `json:"SpotPaidQuotaSet"`
	ImageQuotaSet                []struct{}  `json:"ImageQuotaSet"`
	DisasterRecoverGroupQuotaSet []struct{}  `json:"DisasterRecoverGroupQuotaSet"`
}

// wireQuota counts vCPU for spot and instances otherwise (cvm models.go,
// SpotPaidQuota, PostPaidQuota).
type wireQuota struct {
	UsedQuota      int64  `json:"UsedQuota"`
	OnceQuota      *int64 `json:"OnceQuota,omitempty"`
	RemainingQuota int64  `json:"RemainingQuota"`
	TotalQuota     int64  `json:"TotalQuota"`
	Zone           string `json:"Zone"`
}

func describeAccountQuota(w *world.World, c *api.Call, p *describeAccountQuotaRequest) (*describeAccountQuotaResponse, *wire.Error) {
	filters, failure := readZoneFilters(c.Region, p.Filters, 5, "zone", "quota-type")
	if failure != nil {
		return nil, failure
	}
	sets := wireAccountQuota{}
	for i := range world.RegionByID[c.Region].Zones {
		z := &world.RegionByID[c.Region].Zones[i]
		if z.Retired || !passes(filters, "zone", z.ID) {
			continue
		}
		limit, used := w.Quotas.Quota(z.ID), w.Quotas.Used(z.ID)
		if passes(filters, "quota-type", "PostPaidQuotaSet") {
			sets.PostPaidQuotaSet = append(sets.PostPaidQuotaSet, renderQuota(z.ID, used.HourlyInstances, limit.HourlyInstances))
		}
		if passes(filters, "quota-type", "PrePaidQuotaSet") {
			q := renderQuota(z.ID, used.PrepaidInstances, prepaidQuota)
			q.OnceQuota = &q.TotalQuota
			sets.PrePaidQuotaSet = append(sets.PrePaidQuotaSet, q)
		}
		if passes(filters, "quota-type", "SpotPaidQuotaSet") && !world.RegionByID[c.Region].NoSpot {
			sets.SpotPaidQuotaSet = append(sets.SpotPaidQuotaSet, renderQuota(z.ID, used.SpotVCPU, limit.SpotVCPU))
		}
	}
	return &describeAccountQuotaResponse{
		AppID:                wire.AppID,
		AccountQuotaOverview: wireQuotaOverview{Region: c.Region, AccountQuota: sets},
	}, nil
}

func renderQuota(zone string, used, total int64) wireQuota {
	return wireQuota{UsedQuota: used, RemainingQuota: max(total-used, 0), TotalQuota: total, Zone: zone}
}
