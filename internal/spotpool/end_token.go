package spotpool

import (
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// notedOn is for how long runs go on trying to delete the Secret of a token that expired.
const notedOn = 24 * time.Hour

// endTokens decides to delete the Secrets of bootstrap tokens that nobody needs any
// more. Without a look at the cluster nothing is decided: they stay noted. What expired
// long ago and could not be deleted is forgotten, and where the pool has given its nodes
// up, what has expired at all.
func (p *planner) endTokens() {
	d, seen, now := p.Declaration, p.Observation.Cluster.Seen(), p.clusterNow()
	var left []Minted
	for _, m := range p.plan.Journal.Minted {
		tried := slices.Contains(p.SoFar.TokensEnded, m.ID)
		if p.forgets(m, seen, tried) {
			continue
		}
		left = append(left, m)
		if (d.Nodes != nil || seen) && now.Before(m.ExpiresAt) { // else a cluster that is gone for good would keep the pool
			p.plan.TokensLeft = append(p.plan.TokensLeft, m.ID)
		}
		why := p.whyEndToken(m)
		if why == "" || !seen || tried {
			continue
		}
		p.plan.Decisions = append(p.plan.Decisions, Decision{
			Kind: KindEndToken, Object: d.Object(), Count: 1, Sequence: m.Sequence, BootstrapTokenID: m.ID, Reasons: []string{why},
		})
	}
	p.plan.Journal.Minted = left
}

// clusterNow is the time by the cluster's clock, which tokens go by, where that was seen.
func (p *planner) clusterNow() time.Time {
	if p.Observation.Cluster.Seen() {
		return p.Observation.Cluster.At
	}
	return p.Now
}

// forgets says whether a token that expired is not noted any longer: nobody can join by
// it, and its Secret can't be deleted. A launch that may be repeated needs its note, by
// which the Secret is known as its own.
func (p *planner) forgets(m Minted, seen, tried bool) bool {
	if _, open := p.plan.Journal.intent(m.Sequence); open && p.Declaration.BootstrapToken != nil {
		return false
	}
	over := p.clusterNow().Sub(m.ExpiresAt)
	if p.Declaration.Nodes == nil && !seen {
		return over >= 0
	}
	return over >= notedOn && (tried || !seen)
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
	case !p.clusterNow().Before(m.ExpiresAt):
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
