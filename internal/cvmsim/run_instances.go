package cvmsim

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

type runInstancesRequest struct {
	launchParams
	DryRun             *bool    `json:"DryRun,omitempty"`
	DedicatedClusterID *string  `json:"DedicatedClusterId,omitempty"`
	ChcIDs             []string `json:"ChcIds,omitempty"`
	EnableJumboFrame   *bool    `json:"EnableJumboFrame,omitempty"`
}

// About says what the launch is about.
func (p *runInstancesRequest) About() subject { return aboutLaunch(p.launchParams) }

// Token is the one that the record of calls shows.
func (p *runInstancesRequest) Token() string { return or(p.ClientToken, "") }

type runInstancesResponse struct {
	InstanceIDSet []string `json:"InstanceIdSet,omitempty"`
}

// launchMemory is what a ClientToken stands for once its launch took effect.
// It outlives the instances.
type launchMemory struct {
	Token, Digest string
	InstanceIDs   []string
}

func (m *launchMemory) key() string { return "token/" + m.Token }

// runInstances launches all or nothing (cvm client.go, RunInstances).
func runInstances(w *world, c *call, p *runInstancesRequest) (*runInstancesResponse, *apiError) {
	token := or(p.ClientToken, "")
	digest := launchDigest(c.Region, p)
	if memory := w.memory(token); memory != nil && !or(p.DryRun, false) {
		if memory.Digest != digest {
			return nil, fail(w.settings.TokenMismatchCode, "The ClientToken was used before with other parameters.")
		}
		c.record.InstanceIDs = memory.InstanceIDs
		return &runInstancesResponse{InstanceIDSet: memory.InstanceIDs}, nil
	}
	if p.DedicatedClusterID != nil || len(p.ChcIDs) > 0 {
		return nil, fail("InvalidParameter.CdcNotSupported", "Dedicated clusters and CHC hosts are not sold here.")
	}
	params, failure := resolveTemplate(w, c.Region, p.launchParams)
	if failure != nil {
		return nil, failure
	}
	spec, failure := readLaunch(c.Region, params, c.now)
	if failure != nil {
		return nil, failure
	}
	if failure := checkSale(w, spec); failure != nil {
		return nil, failure
	}
	if or(p.DryRun, false) {
		return &runInstancesResponse{}, nil
	}
	ids := w.launch(spec.launch, c.now, c.requestID, c.fate)
	if token != "" {
		w.remember(&launchMemory{Token: token, Digest: digest, InstanceIDs: ids})
	}
	c.record.InstanceIDs, c.record.TookEffect = ids, true
	return &runInstancesResponse{InstanceIDSet: ids}, nil
}

// memory is what a ClientToken stands for, or nil.
func (w *world) memory(token string) *launchMemory { return w.tokens[token] }

// remember keeps what a ClientToken stands for.
func (w *world) remember(m *launchMemory) {
	w.tokens[m.Token] = m
	w.touch(m.key())
}

// addressTaken reports whether an instance of the network has the address.
func (w *world) addressTaken(vpc, address string) bool { return w.addresses[vpc+"/"+address] != "" }

// launchDigest identifies the body of a launch, whatever the order of its
// fields or the encoding it came in.
func launchDigest(region string, p *runInstancesRequest) string {
	return sha256Hex(append([]byte(region+"\n"), mustJSON(p)...))
}

// checkSale asks the market, the quotas and the balance, and what is left of
// addresses and tags.
func checkSale(w *world, s launchSpec) *apiError {
	if failure := checkOffer(w, s); failure != nil {
		return failure
	}
	if failure := checkQuota(w, s); failure != nil {
		return failure
	}
	if w.offer(s.sku).Price*money(s.count) > w.settings.Balance {
		return fail("InvalidAccount.InsufficientBalance", "The account's balance does not suffice.")
	}
	for _, address := range s.addresses {
		if w.addressTaken(s.template.VPCID, address) {
			return fail("VpcIpIsUsed", "The address %s is in use.", address)
		}
	}
	return checkTagValues(w, s.tags)
}

// checkOffer asks whether there is enough of the sku, at the price that is
// bid.
func checkOffer(w *world, s launchSpec) *apiError {
	spot := s.sku.Charge == chargeSpot
	if spot && zoneRegion[s.sku.Zone].NoSpot {
		return fail("UnsupportedOperation.SpotUnsupportedRegion", "The region `%s` does not sell spot instances.", zoneRegion[s.sku.Zone].ID)
	}
	o := w.offer(s.sku)
	switch {
	case o == nil:
		return fail("ResourceUnavailable.InstanceType", "The instance type `%s` is not sold in `%s`.", s.sku.Type, s.sku.Zone)
	case spot && s.bid != 0 && s.bid < o.Price:
		return fail("InvalidParameterValue.InsufficientPrice", "The bid %s is below the market price.", s.bid)
	case o.Stock <= 0:
		return fail("ResourcesSoldOut.SpecifiedInstanceType", "The instance type `%s` is sold out in `%s`.", s.sku.Type, s.sku.Zone)
	case o.Stock < s.count && spot:
		return fail("InvalidParameterValue.InsufficientOffering", "There are not %d spot instances of `%s` left in `%s`.", s.count, s.sku.Type, s.sku.Zone)
	case o.Stock < s.count:
		return fail("ResourceInsufficient.SpecifiedInstanceType", "There are not %d instances of `%s` left in `%s`.", s.count, s.sku.Type, s.sku.Zone)
	}
	return nil
}

func checkQuota(w *world, s launchSpec) *apiError {
	limit, used := w.quota(s.sku.Zone), w.used(s.sku.Zone)
	switch s.sku.Charge {
	case chargeSpot:
		if used.SpotVCPU+s.count*s.itype.CPU > limit.SpotVCPU {
			return fail("LimitExceeded.UserSpotQuota", "%d more vCPU would exceed the spot quota of %d vCPU in `%s`, of which %d are in use.", s.count*s.itype.CPU, limit.SpotVCPU, s.sku.Zone, used.SpotVCPU)
		}
	case chargePrepaid:
		if used.PrepaidInstances+s.count > prepaidQuota {
			return fail("LimitExceeded.PrepayQuota", "%d more instances would exceed the quota of %d prepaid ones in `%s`, of which %d are in use.", s.count, prepaidQuota, s.sku.Zone, used.PrepaidInstances)
		}
	case chargeHourly:
		if used.HourlyInstances+s.count > limit.HourlyInstances {
			return fail("LimitExceeded.CvmInstanceQuota", "%d more instances would exceed the quota of %d in `%s`, of which %d are in use.", s.count, limit.HourlyInstances, s.sku.Zone, used.HourlyInstances)
		}
	}
	return nil
}

// launch creates the instances; everything has been checked.
func (w *world) launch(s launch, now time.Time, requestID string, fate launchFate) []string {
	w.changeOffer(s.sku, func(o *offer) { o.Stock -= s.count })
	w.rememberTags(s.tags)
	ids := make([]string, s.count)
	for i := range ids {
		in := w.newInstance(s, i, now)
		in.Operation, in.OperationState, in.OperationRequestID = "RunInstances", "OPERATING", requestID
		in.State = statePending
		switch fate {
		case launchFails:
			in.SettleTo, in.SettleError = stateLaunchFailed, "The instance could not be created: the resources of the host are insufficient."
		default:
			in.SettleTo = stateRunning
		}
		if fate != launchHangs {
			in.SettleAt = now.Add(w.settings.LaunchDelay)
		}
		if w.settings.ListingDelay > 0 {
			in.ListedAt = now.Add(w.settings.ListingDelay)
		}
		w.add(in)
		ids[i] = in.ID
	}
	return ids
}

// newInstance makes the record of the i-th instance of a launch.
func (w *world) newInstance(s launch, i int, now time.Time) *instance {
	w.ordinal++
	w.touch(worldKey)
	in := s.template
	in.Ordinal, in.ID, in.UUID = w.ordinal, identifier("ins", w.ordinal), newUUID()
	in.CreatedAt = now.UTC().Truncate(time.Second)
	if in.ChargeType == chargePrepaid {
		in.prepay(now, s.months, cmp.Or(s.renew, renewByHand))
	}
	in.Name, in.HostName = numbered(in.Name, i, s.count), numbered(in.HostName, i, s.count)
	if in.Name == "" {
		in.Name = "未命名"
	}
	in.RestrictState, in.IsolatedSource = "NORMAL", "NOTISOLATED"
	in.PrivateIP = privateAddress(w.ordinal)
	if len(s.addresses) > 0 {
		in.PrivateIP = s.addresses[i]
	}
	if in.PublicIP != "" {
		in.PublicIP = publicAddress(w.ordinal)
	}
	if len(in.SecurityGroupIDs) == 0 {
		in.SecurityGroupIDs = []string{"sg-default0"}
	}
	in.SystemDisk.ID = identifier("disk", w.ordinal*32)
	in.DataDisks = append([]disk(nil), in.DataDisks...)
	for d := range in.DataDisks {
		in.DataDisks[d].ID = identifier("disk", w.ordinal*32+uint64(d)+1)
	}
	at := now.Add(w.settings.TagDelay)
	for _, t := range s.tags {
		if w.settings.TagDelay > 0 {
			in.Late = append(in.Late, lateTag{At: at, Tag: t})
		} else {
			in.Tags = withTag(in.Tags, t, false)
		}
	}
	return &in
}

// numbered names the i-th of several instances: {R:x} counts from x, and
// without it a number from 1 is appended (cvm models.go, InstanceName).
func numbered(name string, i int, count int64) string {
	if name == "" {
		return ""
	}
	if namePattern.MatchString(name) {
		return namePattern.ReplaceAllStringFunc(name, func(pattern string) string {
			from, _ := strconv.Atoi(strings.Trim(pattern, "{R:}")) // nine digits at most
			return strconv.Itoa(from + i)
		})
	}
	if count > 1 {
		return fmt.Sprintf("%s%d", name, i+1)
	}
	return name
}

// aboutLaunch says what a launch is about.
func aboutLaunch(p launchParams) subject {
	s := subject{InstanceType: or(p.InstanceType, ""), Zone: or(or(p.Placement, placementParams{}).Zone, "")}
	for _, spec := range p.TagSpecification {
		for _, t := range spec.Tags {
			if or(t.Key, "") == poolTag {
				s.Pool = or(t.Value, "")
			}
		}
	}
	return s
}
