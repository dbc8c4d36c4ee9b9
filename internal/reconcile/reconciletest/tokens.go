package reconciletest

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

type tokenAPI struct{ *view }

// JoinBy is user data by which a machine joins with a bootstrap token.
const JoinBy = "kubeadm join --token " + spotpool.BootstrapTokenPlaceholder + "\n"

// JoiningPool is Pool with bootstrap tokens. The simulated clock is fast here, so a token is
// valid for long, and nothing counts as late.
func JoiningPool(minimum, maximum int) spotpool.Declaration {
	d := Pool(minimum, maximum)
	d.UserData, d.Nodes = JoinBy, &spotpool.Nodes{JoinTimeout: spotpool.Duration(7 * 24 * time.Hour)}
	d.BootstrapToken = &spotpool.BootstrapToken{Groups: []string{"system:bootstrappers:kubeadm:default-node-token"}, TTL: spotpool.Duration(24 * time.Hour)}
	return d.WithDefaults()
}

// UserData returns the user data of a machine.
func (w *World) UserData(id string) string {
	asked := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/latest/user-data?instance_id="+id, http.NoBody)
	answered := httptest.NewRecorder()
	w.Sim.Server.ServeHTTP(answered, asked)
	return answered.Body.String()
}

// signsIn reports whether a machine with this user data may join: by a valid token, or as
// it needs none. c.mu must be held.
func (c *state) signsIn(userData string) bool {
	before, _, _ := strings.Cut(JoinBy, spotpool.BootstrapTokenPlaceholder)
	given, needed := strings.CutPrefix(userData, before)
	if !needed {
		return true
	}
	id, secret, _ := strings.Cut(strings.TrimSpace(given), ".")
	t, there := c.tokens[id]
	return there && t.Secret == secret && c.now.Before(t.ExpiresAt)
}

func (c tokenAPI) CreateToken(ctx context.Context, t node.BootstrapToken) error {
	return c.act(ctx, "CreateToken", t.ID, func() error {
		if _, there := c.tokens[t.ID]; there {
			return node.ErrTokenExists
		}
		c.tokens[t.ID] = t
		return nil
	}, t)
}

func (c tokenAPI) TokenTaken(ctx context.Context, t node.BootstrapToken) (bool, error) {
	return read(ctx, c.view, "TokenTaken", func() (bool, error) { _, there := c.tokens[t.ID]; return there, nil }, t)
}

func (c tokenAPI) DeleteToken(ctx context.Context, id string) error {
	return c.change(ctx, "DeleteToken", func() error {
		if _, there := c.tokens[id]; there {
			c.Acts = append(c.Acts, "DeleteToken "+id)
			delete(c.tokens, id)
		}
		return nil
	}, id)
}

func (c *state) Tokens() []node.BootstrapToken {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.SortedFunc(maps.Values(c.tokens), func(a, b node.BootstrapToken) int { return strings.Compare(a.ID, b.ID) })
}
