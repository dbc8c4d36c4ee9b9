package connection

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/open"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// untilContextEnds has a lock waited for as long as the operation's context lasts.
const untilContextEnds = time.Duration(math.MaxInt64 / 4)

// Settings say which account and which store, the environment included.
type Settings struct {
	Cloud tencent.Config
	Store store.Location
	// PollInterval is the first pause between two looks at settling instances;
	// zero means reconcile's default.
	PollInterval time.Duration
	// Undecided names provider arguments whose values are not known yet; while
	// there are any, nothing can be opened.
	Undecided []string
}

// Connection reaches the account and the store. It is safe for concurrent use.
// Credentials are looked up and the store is opened when the first pool is
// touched, so that a configuration without pools needs neither.
type Connection struct {
	settings Settings
	opening  once[opened]
	identity once[string]
}

type opened struct {
	engine *reconcile.Engine
	region string
}

// New prepares a connection and opens nothing.
func New(s Settings) *Connection { return &Connection{settings: s} }

// Of takes the connection out of what the framework hands to a resource or data
// source. It returns nil before the provider is configured.
func Of(data any, diags *diag.Diagnostics) *Connection {
	if data == nil {
		return nil
	}
	c, ok := data.(*Connection)
	if !ok {
		diags.AddError("Unexpected provider data", fmt.Sprintf("Expected %T and got %T. This is a bug of the provider.", c, data))
	}
	return c
}

// Ready reports whether every argument of the provider is known.
func (c *Connection) Ready() bool { return c != nil && len(c.settings.Undecided) == 0 }

// Engine opens the account and the store, once.
func (c *Connection) Engine(ctx context.Context) (*reconcile.Engine, error) {
	o, err := c.open(ctx)
	return o.engine, err
}

// Region is the region where a pool names none: the provider's argument, else
// the environment's, else the profile's, else the cloud adapter's default.
func (c *Connection) Region(ctx context.Context) (string, error) {
	if region := c.settings.Cloud.Region; region != "" {
		return region, nil
	}
	o, err := c.open(ctx)
	return o.region, err
}

// AccountID says whose the credentials are. The answer is kept, a refusal too.
func (c *Connection) AccountID(ctx context.Context) (string, error) {
	return c.identity.do(ctx, func() (string, error) {
		o, err := c.open(ctx)
		if err != nil {
			return "", err
		}
		return o.engine.Cloud.AccountID(ctx)
	})
}

func (c *Connection) open(ctx context.Context) (opened, error) {
	if !c.Ready() {
		return opened{}, &UndecidedError{Arguments: c.settings.Undecided}
	}
	return c.opening.do(ctx, func() (opened, error) {
		log := newLogger(ctx, c.settings.Cloud.SecretKey, c.settings.Cloud.SecurityToken)
		settings := c.settings.Cloud
		settings.Logger = log
		client, err := tencent.New(ctx, settings)
		if err != nil {
			return opened{}, unusable{err}
		}
		place, err := open.Store(ctx, c.settings.Store, open.Options{Create: true, Command: "terraform"})
		if err != nil {
			return opened{}, unusable{err}
		}
		return opened{region: client.Region(), engine: &reconcile.Engine{
			Cloud: client, Store: place, Actor: "terraform", LockTimeout: untilContextEnds,
			PollInterval: c.settings.PollInterval, Log: log,
			Progress: func(e reconcile.Event) { log.Info(e.Message, slog.String("object", e.Object)) },
		}}, nil
	})
}

// once keeps the result of the first call, unless the caller's context ended:
// its cancellation must not become everyone's.
type once[T any] struct {
	mu    sync.Mutex
	done  bool
	value T
	err   error
}

func (o *once[T]) do(ctx context.Context, f func() (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return o.value, o.err
	}
	value, err := f()
	if err == nil || ctx.Err() == nil {
		o.value, o.err, o.done = value, err, true
	}
	return value, err
}
