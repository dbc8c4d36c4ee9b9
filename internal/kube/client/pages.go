package client

import (
	"context"
	"errors"
	"io"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

// pageSize is how many objects a page has. Larger pages make the API server hold
// more at once; smaller ones cost more calls.
const pageSize = 5000

// attempts is how often a page that was cut off is asked for.
const attempts = 3

// Listing says what to list.
type Listing struct {
	Client    rest.Interface
	Resource  string
	Namespace string // empty for all
	Fields    string // a field selector; empty for none
	Limit     int    // objects a page; zero for pageSize
}

// Object names what is listed, in errors.
func (l Listing) Object() string {
	if l.Namespace != "" {
		return l.Resource + " in the namespace " + l.Namespace
	}
	return l.Resource + " in the whole cluster"
}

// answer is what a call for a page came to.
type answer struct {
	body io.ReadCloser
	err  error
}

// Pages lists a collection and keeps what decode makes of its objects; decode
// gets an object's protobuf, which the next one overwrites, and says whether to
// keep anything. The next page is asked for once its token is known, which is
// before this one's objects have come, so that the server makes it ready
// meanwhile.
func Pages[T any](ctx context.Context, l Listing, decode func(object []byte) (T, bool, error)) ([]T, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var out []T
	restarts, pending := 0, l.ask(ctx, "")
	for token := ""; ; {
		kept, after, next, err := readPage(ctx, l, pending, token, decode)
		if fresh, expired := expiredToken(err); expired && restarts < attempts {
			restarts++
			if fresh == "" {
				out = nil
			}
			// The token that came with the refusal goes on where the last page
			// ended, though at a later resource version. A replay from before the
			// list makes good what changed in between.
			token, pending = fresh, l.ask(ctx, fresh)
			continue
		}
		if err != nil {
			return nil, Wrap("list", l.Object(), err)
		}
		out = append(out, kept...)
		if after == "" {
			return out, nil
		}
		token, pending = after, next
	}
}

// readPage reads the page that was asked for, and asks for it again when it was
// cut off. It returns what was kept of it, and the token and the call for the page
// after it: the first page may end elsewhere when it is read again.
func readPage[T any](ctx context.Context, l Listing, pending <-chan answer, token string, decode func([]byte) (T, bool, error)) (kept []T, after string, next <-chan answer, err error) {
	for attempt := 1; ; attempt++ {
		got := <-pending
		if err = got.err; err == nil {
			kept = kept[:0]
			err = readList(got.body, func(more string) {
				if more != "" && more != after {
					next = l.ask(ctx, more)
				}
				after = more
			}, func(object []byte) error {
				value, keep, err := decode(object)
				if keep && err == nil {
					kept = append(kept, value)
				}
				return err
			})
			_ = got.body.Close()
		}
		if err == nil || attempt == attempts || ctx.Err() != nil || Answered(err) {
			return kept, after, next, err
		}
		pending = l.ask(ctx, token)
	}
}

// Answered says that an error is the server's answer, and no broken connection.
func Answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

// ask calls for a page. The end of the context closes what nobody reads.
func (l Listing) ask(ctx context.Context, token string) <-chan answer {
	limit := l.Limit
	if limit == 0 {
		limit = pageSize
	}
	request := l.Client.Get().NamespaceIfScoped(l.Namespace, l.Namespace != "").Resource(l.Resource).Param("limit", strconv.Itoa(limit)).
		SetHeader("Accept", "application/vnd.kubernetes.protobuf")
	if l.Fields != "" {
		request.Param("fieldSelector", l.Fields)
	}
	if token != "" {
		request.Param("continue", token)
	}
	out := make(chan answer, 1)
	go func() {
		body, err := request.Stream(ctx)
		out <- answer{body: body, err: err}
	}()
	return out
}

// expiredToken says whether a list went on for longer than the server keeps its
// state of the beginning, and with which token it may go on.
func expiredToken(err error) (token string, expired bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		return "", false
	}
	return status.Status().Continue, true
}
