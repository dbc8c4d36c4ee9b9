package spotpool

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// endTokens decides to delete the Secrets of bootstrap tokens that nobody needs any
// more. Without a look at the cluster nothing is decided: they stay noted. Where the pool
// has given its nodes up, what has expired is forgotten then.
func (p *planner) endTokens() {
	d, seen := p.Declaration, p.Observation.Cluster.Seen()
	var left []Minted
	for _, m := range p.plan.Journal.Minted {
		if !seen && d.Nodes == nil && !p.Now.Before(m.ExpiresAt) {
			continue
		}
		left = append(left, m)
		if d.Nodes != nil || seen { // else a cluster that is gone for good would keep the pool
			p.plan.TokensLeft = append(p.plan.TokensLeft, m.ID)
		}
		why := p.whyEndToken(m)
		if why == "" || !seen || slices.Contains(p.SoFar.TokensEnded, m.ID) {
			continue
		}
		p.plan.Decisions = append(p.plan.Decisions, Decision{
			Kind: KindEndToken, Object: d.Object(), Count: 1, Sequence: m.Sequence, BootstrapTokenID: m.ID, Reasons: []string{why},
		})
	}
	p.plan.Journal.Minted = left
}

// whyEndToken says why a token is not needed any more; empty where it may be.
func (p *planner) whyEndToken(m Minted) string {
	_, open := p.plan.Journal.intent(m.Sequence)
	again := slices.ContainsFunc(p.plan.Decisions, func(d Decision) bool { return d.Resume && d.Sequence == m.Sequence })
	switch {
	case p.Declaration.BootstrapToken == nil:
		return "the pool gives its instances no token any more"
	case again: // and is given a new Secret
		return ""
	case !p.Now.Before(m.ExpiresAt):
		return "it expired at " + instant(m.ExpiresAt)
	case open:
		return ""
	case len(m.Instances) == 0:
		return fmt.Sprintf("launch %d launched nothing", m.Sequence)
	case slices.ContainsFunc(m.Instances, p.mayJoin):
		return ""
	}
	return fmt.Sprintf("%s joined, or ended", wording.Some(m.Instances))
}

// mayJoin reports whether an instance is there that was never seen as a Ready node.
func (p *planner) mayJoin(id string) bool {
	n, known := p.plan.Journal.find(id)
	return known && p.plan.Journal.Known[n].Node.JoinedAt.IsZero() && !p.plan.Journal.Known[n].Ended
}
