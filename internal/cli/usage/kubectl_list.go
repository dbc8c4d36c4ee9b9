package usage

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
)

// kubectlList reads a list of the Kubernetes API from JSON item by item, so that only
// one item is in memory.
type kubectlList struct {
	kind   string // of the items: "Pod"
	plural string // for advice: "pods"
	// item reads one item, and returns its kind.
	item func(raw json.RawMessage) (kind string, err error)
}

// listName is the kind of the list.
func (l kubectlList) listName() string { return l.kind + "List" }

// readFile reads the list in a file, or on standard input.
func (l kubectlList) readFile(ctx context.Context, s *process.Session, file string) error {
	stream, name, err := s.Input(file)
	if err != nil {
		return fmt.Errorf("cannot read the %s: %w", l.plural, err)
	}
	defer stream.Close()
	if err := l.read(ctx, stream); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// head has the metadata of a list, before or after its items.
type head struct {
	APIVersion string
	Kind       string
	items      int // -1: none so far
	Metadata   struct {
		Continue string `json:"continue"`
	}
}

func (l kubectlList) read(ctx context.Context, stream io.Reader) error {
	buffered := bufio.NewReaderSize(stream, 1<<16)
	if err := l.looksLikeJSON(buffered); err != nil {
		return err
	}
	decoder := json.NewDecoder(buffered)
	if _, err := decoder.Token(); err != nil {
		return l.broken(err)
	}
	h := head{items: -1}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return l.broken(err)
		}
		if err := l.field(ctx, decoder, key, &h); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return l.broken(err)
	}
	if err := l.check(h); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the list; give one list at a time")
	}
	return nil
}

// looksLikeJSON says what to do about the most likely mistakes.
func (l kubectlList) looksLikeJSON(stream *bufio.Reader) error {
	if mark, _ := stream.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = stream.Discard(3) // it was just peeked at
	}
	for {
		first, err := stream.Peek(1)
		switch {
		case errors.Is(err, io.EOF):
			return fmt.Errorf("it is empty; %s", l.advice())
		case err != nil:
			return err
		case bytes.ContainsAny(first, " \t\r\n"):
			_, _ = stream.Discard(1)
		case first[0] == '{':
			return nil
		default:
			return fmt.Errorf("it is not a JSON object; %s", l.advice())
		}
	}
}

func (l kubectlList) advice() string {
	return fmt.Sprintf("a list of %s is what kubectl get %s -o json prints", l.plural, l.plural)
}

// field reads one field of the list.
func (l kubectlList) field(ctx context.Context, decoder *json.Decoder, key json.Token, h *head) error {
	switch key {
	case "apiVersion":
		return l.broken(decoder.Decode(&h.APIVersion))
	case "kind":
		if err := decoder.Decode(&h.Kind); err != nil {
			return l.broken(err)
		}
		return l.checkKind(*h)
	case "metadata":
		return l.broken(decoder.Decode(&h.Metadata))
	case "items":
		if h.items >= 0 {
			return errors.New("it has two lists of items")
		}
		h.items = 0
		return l.items(ctx, decoder, h)
	}
	var skipped json.RawMessage
	return l.broken(decoder.Decode(&skipped))
}

func (l kubectlList) items(ctx context.Context, decoder *json.Decoder, h *head) error {
	open, err := decoder.Token()
	if err != nil {
		return l.broken(err)
	}
	if open == nil { // null: an empty list
		return nil
	}
	if open != json.Delim('[') {
		return errors.New("its items are not a list")
	}
	var raw json.RawMessage
	for ; decoder.More(); h.items++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		raw = raw[:0]
		if err := decoder.Decode(&raw); err != nil {
			return l.broken(err)
		}
		if err := l.readItem(raw); err != nil {
			return fmt.Errorf("item %d%s: %w", h.items+1, nameOf(raw), err)
		}
	}
	_, err = decoder.Token()
	return l.broken(err)
}

// readItem reads one item. It is an error where the item is of another kind, as in
// mixed lists.
func (l kubectlList) readItem(raw json.RawMessage) error {
	kind, err := l.item(raw)
	if err != nil {
		var is struct{ Kind string }
		if json.Unmarshal(raw, &is) != nil {
			return errors.New("it is not an object")
		}
		kind = is.Kind
	}
	if kind != "" && kind != l.kind {
		return fmt.Errorf("it is a %s, not a %s", kind, l.kind)
	}
	return err
}

// nameOf is " (namespace/name)", as far as that can be read.
func nameOf(raw json.RawMessage) string {
	var object struct {
		Metadata struct{ Namespace, Name string }
	}
	if json.Unmarshal(raw, &object) != nil || object.Metadata.Name == "" {
		return ""
	}
	if object.Metadata.Namespace == "" {
		return fmt.Sprintf(" (%s)", object.Metadata.Name)
	}
	return fmt.Sprintf(" (%s/%s)", object.Metadata.Namespace, object.Metadata.Name)
}

func (l kubectlList) checkKind(h head) error {
	switch h.Kind {
	case "List", l.listName():
		return nil
	case l.kind:
		return fmt.Errorf("it is a single %s, not a list; %s", l.kind, l.advice())
	case "":
		return fmt.Errorf("it names no kind; %s", l.advice())
	}
	return fmt.Errorf("it is a %s, not a %s; %s", h.Kind, l.listName(), l.advice())
}

// check checks the list after all of it was read, since kubectl writes the kind after
// the items.
func (l kubectlList) check(h head) error {
	if err := l.checkKind(h); err != nil {
		return err
	}
	switch {
	case h.APIVersion != "v1":
		return fmt.Errorf("its apiVersion is %q, not v1", h.APIVersion)
	case h.items < 0:
		return fmt.Errorf("it has no items; %s", l.advice())
	case h.Metadata.Continue != "":
		return fmt.Errorf("it is one page of a longer list (metadata.continue is set); %s", l.advice())
	}
	return nil
}

// broken says what is wrong with JSON.
func (l kubectlList) broken(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends in the middle: it was cut off")
	case errors.As(err, &syntax):
		return fmt.Errorf("invalid JSON: %w (at byte %d)", err, syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Errorf("it is not a list of %s: %w", l.plural, err)
	}
	return err
}
