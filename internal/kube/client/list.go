package client

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

// defaultPageSize is the number of objects of a page. Larger pages make the API server
// hold more at once; smaller ones cost more calls.
const defaultPageSize = 5000

// tries limits the requests for a page that was cut off, and the continuations of an expired
// list.
const tries = 3

// Collection is the objects of one resource, to be listed or watched.
type Collection struct {
	Client    rest.Interface // of the resource's API group
	Resource  string
	Namespace string // empty for all
	Fields    string // a field selector; empty for none
	Labels    string // a label selector; empty for none
	PageSize  int    // objects a page of a list; zero for the default
}

// String names the collection in errors.
func (c Collection) String() string {
	if c.Namespace != "" {
		return c.Resource + " in the namespace " + c.Namespace
	}
	return c.Resource + " in the whole cluster"
}

// page is the answer to a call for a page.
type page struct {
	body io.ReadCloser
	err  error
}

// List reads a collection and decodes its objects. The next object overwrites the protobuf that decode gets,
// and take says whether the value is part of the list. The next page is requested as soon as its token is
// known. The server prepares it while the objects of this page arrive.
func List[T any](ctx context.Context, c Collection, decode func(object []byte) (value T, take bool, err error)) ([]T, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var out []T
	restarts, pending := 0, c.ask(ctx, "")
	for token := ""; ; {
		values, after, next, err := readPage(ctx, c, pending, token, decode)
		if renewed, expired := expiredToken(err); expired && restarts < tries {
			restarts++
			if renewed == "" {
				out = nil // there is none to go on with: from the beginning
			}
			// The token in the refusal continues where the last page ended, though at a later resource
			// version. A replay from before the list covers the changes in between.
			token, pending = renewed, c.ask(ctx, renewed)
			continue
		}
		if err != nil {
			return nil, Wrap("list", c.String(), err)
		}
		out = append(out, values...)
		if after == "" {
			return out, nil
		}
		token, pending = after, next
	}
}

// readPage reads the requested page, and requests it again if it was cut off. It returns the page's values,
// and the token and the call for the next page. When the first page is read again, it may end elsewhere.
func readPage[T any](ctx context.Context, c Collection, pending <-chan page, token string, decode func([]byte) (T, bool, error)) (values []T, after string,
	next <-chan page, err error) {
	for try := 1; ; try++ {
		got := <-pending
		if err = got.err; err == nil {
			values = values[:0]
			err = readList(got.body, func(more string) {
				if more != "" && more != after {
					next = c.ask(ctx, more)
				}
				after = more
			}, func(object []byte) error {
				value, take, err := decode(object)
				if take && err == nil {
					values = append(values, value)
				}
				return err
			})
			_ = got.body.Close()
		}
		if err == nil || try == tries || ctx.Err() != nil || isResponse(err) {
			return values, after, next, err
		}
		pending = c.ask(ctx, token)
	}
}

// isResponse reports whether an error is the server's response, and not a broken connection.
func isResponse(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

// ask requests a page. The end of the context closes an unread response.
func (c Collection) ask(ctx context.Context, token string) <-chan page {
	request := c.request().Param("limit", strconv.Itoa(cmp.Or(c.PageSize, defaultPageSize))).SetHeader("Accept", "application/vnd.kubernetes.protobuf")
	if token != "" {
		request.Param("continue", token)
	}
	out := make(chan page, 1)
	go func() {
		body, err := request.Stream(ctx)
		out <- page{body: body, err: err}
	}()
	return out
}

// request asks for the collection's objects.
func (c Collection) request() *rest.Request {
	request := c.Client.Get().NamespaceIfScoped(c.Namespace, c.Namespace != "").Resource(c.Resource)
	if c.Fields != "" {
		request.Param("fieldSelector", c.Fields)
	}
	if c.Labels != "" {
		request.Param("labelSelector", c.Labels)
	}
	return request
}

// expiredToken reports whether a list took longer than the server keeps its first state, and returns the
// token that continues it.
func expiredToken(err error) (token string, expired bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		return "", false
	}
	return status.Status().Continue, true
}
