package cvmsim

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

// prepaidQuota is how many prepaid instances a zone may have.
const prepaidQuota = 100

func describeAccountQuota(w *world, c *call, p *describeAccountQuotaRequest) (*describeAccountQuotaResponse, *apiError) {
	filters, failure := readFilters(p.Filters, 5, oneOf("zone", "quota-type"))
	if failure != nil {
		return nil, failure
	}
	if failure := checkZoneFilter(c.Region, filters); failure != nil {
		return nil, failure
	}
	sets := wireAccountQuota{}
	for i := range regions[c.Region].Zones {
		z := &regions[c.Region].Zones[i]
		if z.Retired || !passes(filters, "zone", z.ID) {
			continue
		}
		limit, used := w.quota(z.ID), w.used(z.ID)
		if passes(filters, "quota-type", "PostPaidQuotaSet") {
			sets.PostPaidQuotaSet = append(sets.PostPaidQuotaSet, renderQuota(z.ID, used.HourlyInstances, limit.HourlyInstances))
		}
		if passes(filters, "quota-type", "PrePaidQuotaSet") {
			q := renderQuota(z.ID, used.PrepaidInstances, prepaidQuota)
			q.OnceQuota = &q.TotalQuota
			sets.PrePaidQuotaSet = append(sets.PrePaidQuotaSet, q)
		}
		if passes(filters, "quota-type", "SpotPaidQuotaSet") && !regions[c.Region].NoSpot {
			sets.SpotPaidQuotaSet = append(sets.SpotPaidQuotaSet, renderQuota(z.ID, used.SpotVCPU, limit.SpotVCPU))
		}
	}
	return &describeAccountQuotaResponse{
		AppID:                appID,
		AccountQuotaOverview: wireQuotaOverview{Region: c.Region, AccountQuota: sets},
	}, nil
}

func renderQuota(zone string, used, total int64) wireQuota {
	return wireQuota{UsedQuota: used, RemainingQuota: max(total-used, 0), TotalQuota: total, Zone: zone}
}
