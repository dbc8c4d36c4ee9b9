package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// machineLines are the instances of a pool as a table, with their nodes.
func machineLines(v layout, p spotpools.Description, at time.Time) []string {
	prices := describe.PricesOf(p.Machines, decide.Member.Cost)
	return terminal.Fitted(v.style, max(0, v.width-detailsIndent), func(style terminal.Style) *terminal.Table {
		t := &terminal.Table{}
		row := func(node []string, condition string, cells ...string) {
			t.Add(slices.Concat(cells, node, []string{condition})...)
		}
		row(nodeColumns(p), "CONDITION", "INSTANCE", "ZONE", "TYPE", "CHARGE", "AGE", "PRIVATE IP", "PUBLIC IP", prices.Title())
		for _, m := range p.Machines {
			launched := "-"
			if !m.LaunchedAt.IsZero() {
				launched = terminal.Age(at.Sub(m.LaunchedAt))
			}
			row(nodeCells(style, p, m), conditionText(style, m), m.ID, m.AvailabilityZone, m.InstanceType, spotpool.ChargeName(m.ChargeType), launched,
				orDash(m.PrivateIP), orDash(m.PublicIP), prices.Cell(m.Cost()))
		}
		return t
	}, "PUBLIC IP", prices.Title(), "CHARGE", "PRIVATE IP", "AGE", "TYPE", "ZONE").Lines()
}

// nodeColumns are the titles of nodeCells.
func nodeColumns(p spotpools.Description) []string {
	if p.Nodes == nil {
		return nil
	}
	return []string{"NODE", "HEALTH", "GPU PODS"}
}

// nodeCells are the node of an instance, its health, and its number of GPU pods.
func nodeCells(style terminal.Style, p spotpools.Description, m decide.Member) []string {
	health, pods := "-", "-"
	switch {
	case p.Nodes == nil:
		return nil
	case !p.Nodes.Observed:
		health = style.Paint(terminal.Red, "unknown")
	case m.Match.Standing == node.Contested:
		health = style.Paint(terminal.Yellow, "ambiguous")
	case m.Health == node.Healthy:
		health = style.Paint(terminal.Green, words(m.Health))
	case m.Health == node.Joining:
		health = style.Paint(terminal.Cyan, words(m.Health))
	case m.Health != node.Unknown:
		health = style.Paint(terminal.Yellow, words(m.Health))
	}
	if m.GPUPods != nil {
		pods = fmt.Sprint(*m.GPUPods)
	}
	return []string{orDash(m.Node.Name), health, pods}
}

// drainText is the progress of the drain of an instance.
func drainText(d node.Drain) string {
	text := map[node.Phase]string{
		node.Asked: ", drain requested", node.Draining: ", draining", node.Done: ", drained", node.TimedOut: ", drain timed out",
	}[d.Phase]
	if text != "" && d.Left > 0 {
		text += ", " + describe.Plural(d.Left, "pod") + " left"
	}
	return text
}

// words is a JSON value as words.
func words[T ~string](name T) string { return strings.ReplaceAll(string(name), "_", " ") }

func conditionText(style terminal.Style, m decide.Member) string {
	c := terminal.Yellow
	switch m.Condition {
	case decide.Running:
		c = terminal.Green
	case decide.Launching:
		c = terminal.Cyan
	case decide.Failed:
		c = terminal.Red
	case decide.Terminating:
		c = terminal.Dim
	}
	text := string(m.Condition)
	if m.Drifted {
		text += ", drifted"
	}
	if m.Protected || m.APIProtected {
		text += ", protected"
	}
	if !m.UnlistedUntil.IsZero() {
		text += ", not listed yet"
	}
	if m.NoticeWithdrawn() {
		text += ", notice withdrawn"
	} else {
		text += drainText(m.Drain)
	}
	if m.Replaced() {
		text += ", replacement pending"
	}
	if m.OperationError != "" {
		text += ": " + terminal.OneLine(m.OperationError)
	}
	return style.Paint(c, text)
}
