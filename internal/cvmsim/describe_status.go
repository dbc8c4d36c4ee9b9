package cvmsim

type describeInstancesStatusRequest struct {
	InstanceIDs []string `json:"InstanceIds,omitempty"`
	Offset      *int64   `json:"Offset,omitempty"`
	Limit       *int64   `json:"Limit,omitempty"`
}

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
	found := w.index.inRegion(c.Region)
	if len(p.InstanceIDs) > 0 {
		var failure *apiError
		if found, failure = w.byIDs(c.Region, p.InstanceIDs); failure != nil {
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
