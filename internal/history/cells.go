package history

import (
	"strconv"
	"strings"
	"time"
)

// Titles returns the titles of the CSV cells of an event: the fields of the JSON, with the group's
// name as a prefix. A list is one cell, separated by spaces, and reasons by semicolons.
func Titles() []string {
	return []string{
		"id", "at", "kind", "object", "object_uid", "cluster_uid", "run_id", "actor", "reasons", "outcome", "count",
		"offering_availability_zone", "offering_instance_type", "offering_subnet_id", "charge_type", "price", "instance_ids",
		"pods", "workloads", "threshold", "error_class", "error_code", "error_message", "error_request_id", "error_remedy", "until", "node",
		"currency", "details",
	}
}

// Cells returns the CSV cells of an event. Times are in UTC.
func (e *Event) Cells() []string {
	var o Offering
	if e.Offering != nil {
		o = *e.Offering
	}
	var f Error
	if e.Error != nil {
		f = *e.Error
	}
	return []string{
		e.ID, cell(e.At), string(e.Kind), e.Object, e.ObjectUID, e.ClusterUID, e.RunID, e.Actor,
		strings.Join(e.Reasons.Texts(), "; "), e.Outcome, count(e.Count),
		o.AvailabilityZone, o.InstanceType, o.SubnetID, e.ChargeType, e.Price, strings.Join(e.InstanceIDs, " "),
		together(e.Pods), together(e.Workloads), count(e.Threshold), f.Class, f.Code, f.Message, f.RequestID, f.Remedy, cell(e.Until), e.Node,
		e.Currency, e.Reasons.Compact(),
	}
}

func cell(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func together(list []Identity) string {
	names := make([]string, len(list))
	for n, i := range list {
		names[n] = i.String()
	}
	return strings.Join(names, " ")
}

// String returns "namespace/name".
func (i Identity) String() string { return i.Namespace + "/" + i.Name }
