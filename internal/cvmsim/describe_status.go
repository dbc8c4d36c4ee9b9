package cvmsim

type describeInstancesStatusRequest struct {
	InstanceIDs []string `json:"InstanceIds,omitempty"`
	Offset      *int64   `json:"Offset,omitempty"`
	Limit       *int64   `json:"Limit,omitempty"`
}

// About says which instances the call is about.
func (p *describeInstancesStatusRequest) About() subject { return subject{InstanceIDs: p.InstanceIDs} }

type describeInstancesStatusResponse struct {
	TotalCount        int          `json:"TotalCount"`
	InstanceStatusSet []wireStatus `json:"InstanceStatusSet"`
}

type wireStatus struct {
	InstanceID    string `json:"InstanceId"`
	InstanceState string `json:"InstanceState"`
}

// describeInstancesStatus lists states; it knows no filters.
func describeInstancesStatus(w *world, c *call, p *describeInstancesStatusRequest) (*describeInstancesStatusResponse, *apiError) {
	found := w.listedIn(c.Region)
	if len(p.InstanceIDs) > 0 {
		var failure *apiError
		if found, failure = byIDs(w, c.Region, p.InstanceIDs); failure != nil {
			return nil, failure
		}
	}
	from, to, failure := page(p.Offset, p.Limit, len(found))
	if failure != nil {
		return nil, failure
	}
	answer := &describeInstancesStatusResponse{TotalCount: len(found), InstanceStatusSet: []wireStatus{}}
	for _, in := range found[from:to] {
		answer.InstanceStatusSet = append(answer.InstanceStatusSet, wireStatus{in.ID, in.State})
	}
	return answer, nil
}
