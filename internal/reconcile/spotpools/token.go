package spotpools

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

// tokenStep makes or deletes the join token of the launch of a decision.
type tokenStep struct {
	*actor
	d spotpool.Decision
}

// mint gives a launch the token by which its instances join, where the pool has some, and
// returns its request with that filled in. The journal knows of the Secret before it is
// made, and the Secret is there before the launch is written down, or asked for again. A
// launch without a token is no launch: minted is false then, and why is noted in the
// pass.
func (a tokenStep) mint(ctx context.Context, r spotpool.Request) (filled spotpool.Request, minted bool, err error) {
	how := a.pass.declaration.WithDefaults().BootstrapToken
	if how == nil || a.d.Resume && r.BootstrapToken == "" {
		return r, true, nil
	}
	cluster, err := a.cluster(ctx)
	if err != nil {
		a.notMinted(ctx, err)
		return r, false, nil
	}
	filled, refused, err := a.makeAny(ctx, cluster, r, *how)
	switch {
	case errors.Is(refused, outcome.ErrPlanned):
		return r, false, refused
	case err != nil:
		return r, false, err
	case refused != nil:
		a.notMinted(ctx, refused)
		return r, false, nil
	}
	return filled, true, nil
}

// tokensTried is how many ids a launch tries: that one is taken is rare as it is.
const tokensTried = 3

// makeAny makes the Secret of a request's token, or, where it has none yet, of the first
// of its tokens whose id nobody else's has. What the cluster refused is told apart from
// what keeps the pool from being recorded.
func (a tokenStep) makeAny(ctx context.Context, cluster Cluster, r spotpool.Request, how spotpool.BootstrapToken) (
	filled spotpool.Request, refused, err error) {
	if r.BootstrapToken != "" {
		refused, err = a.makeToken(ctx, cluster, r, how, true)
		return r, refused, err
	}
	secret, err := a.flow.tokenSecret()
	if err != nil {
		return r, nil, err
	}
	for n := range tokensTried {
		filled = r.Joining(launches.BootstrapTokenID(r.UID, a.journal.Value.Salt, r.Sequence, n), secret)
		if refused, err = a.makeToken(ctx, cluster, filled, how, false); !errors.Is(refused, node.ErrTokenExists) {
			break
		}
	}
	return filled, refused, err
}

// makeToken makes the Secret of a token. One that is there is the pool's own where it was
// noted before, of a launch that was cut short: it stays where the launch is the same and
// it is valid for long, and else another takes its place. One that was not noted is
// somebody else's, and stays: it is looked for before the note, by which a run after a
// kill would take it for the pool's own.
func (a tokenStep) makeToken(ctx context.Context, cluster Cluster, r spotpool.Request, how spotpool.BootstrapToken, again bool) (refused, err error) {
	id, secret := r.TokenParts()
	now := cluster.Now()
	before, noted := a.journal.Value.Tokens.Of(id)
	stays := again && noted && before.LastsOn(now, how.TTL)
	t := node.BootstrapToken{ID: id, Secret: secret, Groups: how.Groups, ExpiresAt: before.ExpiresAt, Pool: a.pass.declaration.Key(), PoolUID: r.UID}
	if !stays {
		t.ExpiresAt = now.Add(time.Duration(how.TTL))
		if !noted {
			taken, err := cluster.TokenTaken(ctx, t)
			if err == nil && taken {
				err = tokenTaken(node.ErrTokenExists)
			}
			if err != nil {
				return err, nil
			}
		}
		if err := a.rememberTokens(ctx, a.journal.Value.Tokens.With(launches.JoinToken{ID: id, Sequence: r.Sequence, ExpiresAt: t.ExpiresAt})); err != nil {
			return nil, err
		}
	}
	calling, done := record.WithGrace(ctx)
	defer done()
	refused = cluster.CreateToken(calling, t)
	switch {
	case !errors.Is(refused, node.ErrTokenExists):
		return refused, nil
	case stays:
		return nil, nil
	case !noted:
		return tokenTaken(refused), a.rememberTokens(calling, a.journal.Value.Tokens.Without(id))
	}
	if err := cluster.DeleteToken(calling, id); err != nil {
		return err, nil
	}
	return cluster.CreateToken(calling, t), nil
}

// tokenTaken says that the Secret of a token's id is somebody else's.
func tokenTaken(err error) error {
	return fmt.Errorf("%w, which this pool did not create and leaves alone: delete that Secret if it is not needed", err)
}

// notMinted notes that a launch is not asked for, as its instances could not join.
func (a tokenStep) notMinted(ctx context.Context, err error) {
	if a.d.Resume {
		a.pass.uncertain = true
		err = fmt.Errorf("the outcome of launch %d is unknown, and it is asked for again once its instances can be given a valid bootstrap token: %w",
			a.d.Sequence, err)
	} else {
		err = fmt.Errorf("nothing is launched that could not join: the bootstrap token of launch %d could not be made: %w. Have the cluster be reachable, "+
			"with the rights that gpupool manifests --bootstrap-groups prints, or take bootstrap_token and its placeholder out", a.d.Sequence, err)
	}
	a.halt(ctx, a.d, err)
}

// end deletes the Secret of a token that nobody needs any more, and forgets it.
func (a tokenStep) end(ctx context.Context) error {
	a.pass.soFar.TokensEnded = append(a.pass.soFar.TokensEnded, a.d.BootstrapTokenID)
	calling, done := record.WithGrace(ctx)
	defer done()
	cluster, err := a.cluster(ctx)
	if err == nil {
		err = cluster.DeleteToken(calling, a.d.BootstrapTokenID)
	}
	switch {
	case errors.Is(err, outcome.ErrPlanned):
		return err
	case err != nil:
		a.notEnded(ctx, err)
		return nil
	}
	a.note(ctx, a.d, outcome.Done, nil)
	j := a.journal.Value
	j.Tokens = j.Tokens.Without(a.d.BootstrapTokenID)
	return a.record(ctx, j)
}

// notEnded notes that a token could not be ended. It expires by itself, and the next run
// tries again: so it is a warning, but for a destroy while somebody could join by it.
func (a tokenStep) notEnded(ctx context.Context, err error) {
	valid := slices.Contains(a.pass.latest.plan.TokensLeft, a.d.BootstrapTokenID)
	if a.pass.destroys && valid {
		a.fail(ctx, a.d, fmt.Errorf("the bootstrap token %s may be valid for as long as it was made for: %w", a.d.BootstrapTokenID, err))
		return
	}
	text := fmt.Sprintf("the bootstrap token %s of launch %d could not be ended, and the next run tries again: %s", a.d.BootstrapTokenID, a.d.Sequence, err)
	if !slices.Contains(a.pass.warnings, text) {
		a.pass.warnings = append(a.pass.warnings, text)
	}
	a.failed(ctx, a.d, err)
}

// tokenSecret is the secret part of a new token.
func (p *Ports) tokenSecret() (string, error) {
	const all = spotpool.TokenCharacters
	random := cmp.Or[io.Reader](p.Random, rand.Reader)
	secret, drawn := make([]byte, 0, spotpool.TokenSecretLength), make([]byte, spotpool.TokenSecretLength)
	for len(secret) < cap(secret) {
		if _, err := io.ReadFull(random, drawn); err != nil {
			return "", fmt.Errorf("drawing the secret of a bootstrap token: %w", err)
		}
		// Bytes beyond the last whole multiple would make some characters likelier.
		drawn := slices.DeleteFunc(slices.Clone(drawn), func(b byte) bool { return int(b) >= 256/len(all)*len(all) })
		for _, b := range drawn[:min(len(drawn), cap(secret)-len(secret))] {
			secret = append(secret, all[int(b)%len(all)])
		}
	}
	return string(secret), nil
}
