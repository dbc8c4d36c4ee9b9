package cvm

import (
	"slices"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// maxModifiedNameRunes is less than what a launch allows
// (cvm models.go, ModifyInstancesAttributeRequest).
const maxModifiedNameRunes = 60

type modifyInstancesAttributeRequest struct {
	InstanceIDs           []string `json:"InstanceIds,omitempty"`
	InstanceName          *string  `json:"InstanceName,omitempty"`
	UserData              *string  `json:"UserData,omitempty"`
	SecurityGroups        []string `json:"SecurityGroups,omitempty"`
	CamRoleName           *string  `json:"CamRoleName,omitempty"`
	HostName              *string  `json:"HostName,omitempty"`
	DisableAPITermination *bool    `json:"DisableApiTermination,omitempty"`
	CamRoleType           *string  `json:"CamRoleType,omitempty"`
	AutoReboot            *bool    `json:"AutoReboot,omitempty"`
}

// About says which instances the call is about.
func (p *modifyInstancesAttributeRequest) About() api.Subject {
	return api.Subject{InstanceIDs: p.InstanceIDs}
}

// modifyInstancesAttribute changes exactly one attribute of all instances, or
// of none.
func modifyInstancesAttribute(w *world.World, c *api.Call, p *modifyInstancesAttributeRequest) (*api.Empty, *wire.Error) {
	change, failure := readAttribute(p)
	if failure != nil {
		return nil, failure
	}
	found, failure := existing(w, c.Region, p.InstanceIDs)
	if failure != nil {
		return nil, failure
	}
	for _, in := range found {
		if !slices.Contains([]string{world.StateRunning, "STOPPED"}, in.State) {
			return nil, wire.Fail("UnsupportedOperation.InstanceState"+camel(in.State), "The instance `%s` is %s, which can't be changed.", in.ID, in.State)
		}
	}
	for _, in := range found {
		change(in)
		in.Operation, in.OperationState, in.OperationRequestID = "ModifyInstancesAttribute", "SUCCESS", c.RequestID
		w.Changed(in)
	}
	c.TookEffect(p.InstanceIDs...)
	return &api.Empty{}, nil
}

// readAttribute checks the one attribute that is given, and returns what it
// does.
func readAttribute(p *modifyInstancesAttributeRequest) (func(*world.Instance), *wire.Error) {
	given := 0
	for _, g := range []bool{
		p.InstanceName != nil, p.UserData != nil, len(p.SecurityGroups) > 0, p.CamRoleName != nil,
		p.HostName != nil, p.DisableAPITermination != nil,
	} {
		if g {
			given++
		}
	}
	switch {
	case given == 0:
		return nil, wire.Fail("MissingParameter", "One attribute must be given.")
	case given > 1:
		return nil, wire.Fail("InvalidParameterValue", "Only one attribute may be changed in a call.")
	case p.InstanceName != nil:
		if utf8.RuneCountInString(*p.InstanceName) > maxModifiedNameRunes {
			return nil, wire.Fail("InvalidInstanceName.TooLong", "`InstanceName` must have at most %d characters.", maxModifiedNameRunes)
		}
		return func(in *world.Instance) { in.Name = *p.InstanceName }, nil
	case p.UserData != nil:
		return func(in *world.Instance) { in.UserData = *p.UserData }, checkUserData(*p.UserData)
	case p.HostName != nil:
		return func(in *world.Instance) { in.HostName = *p.HostName }, checkHostName(*p.HostName)
	case p.DisableAPITermination != nil:
		return func(in *world.Instance) { in.Protected = *p.DisableAPITermination }, nil
	case p.CamRoleName != nil:
		return func(in *world.Instance) { in.CamRoleName = *p.CamRoleName }, checkRole(*p.CamRoleName)
	}
	return func(in *world.Instance) { in.SecurityGroupIDs = p.SecurityGroups }, api.SecurityGroupID.Check(p.SecurityGroups...)
}
