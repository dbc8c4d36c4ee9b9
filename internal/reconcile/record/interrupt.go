package record

import (
	"context"
	"time"
)

// Grace is how long outcomes may still be recorded after an interrupt.
const Grace = 30 * time.Second

// callGrace is how long a call that changes something may go on after an interrupt,
// so that its outcome becomes known.
const callGrace = 5 * time.Second

// WithGrace is the context of a call that changes something: it ends a little
// after ctx does.
func WithGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	outliving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(callGrace, cancel) })
	return outliving, func() { stop(); cancel() }
}
