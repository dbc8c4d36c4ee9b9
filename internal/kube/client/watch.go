package client

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Change is one event of a watch.
type Change struct {
	Kind            watch.EventType
	ResourceVersion string
	Object          []byte // its protobuf, which the next event overwrites
}

// Watch watches a collection from a resource version for so many seconds, or until
// each says that it saw enough. The error may be the server's own, such as that it
// no longer has the history.
func Watch(ctx context.Context, w Collection, from uint64, seconds int64, each func(Change) (enough bool, err error)) error {
	body, err := w.request().
		Param("watch", "true").Param("allowWatchBookmarks", "true").
		Param("resourceVersion", strconv.FormatUint(from, 10)).Param("timeoutSeconds", strconv.FormatInt(seconds, 10)).
		SetHeader("Accept", "application/vnd.kubernetes.protobuf;stream=watch").Stream(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	return readEvents(body, func(c Change) (bool, error) {
		if c.Kind == watch.Error {
			status := new(metav1.Status)
			if err := status.Unmarshal(c.Object); err != nil {
				return false, err
			}
			return false, &apierrors.StatusError{ErrStatus: *status}
		}
		return each(c)
	})
}

// readEvents reads the events of a watch as they arrive, until its end. Each frame is a WatchEvent after its
// length in four bytes. See pkg/runtime/serializer/protobuf and pkg/apis/meta/v1 in k8s.io/apimachinery.
func readEvents(r io.Reader, each func(Change) (enough bool, err error)) error {
	in := bufio.NewReaderSize(r, 1<<15)
	var head [4]byte
	var frame []byte
	for {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return damaged(err)
		}
		length := binary.BigEndian.Uint32(head[:])
		if length > maxObject {
			return fmt.Errorf("an event of %d bytes: %w", length, errDamaged)
		}
		if uint32(cap(frame)) < length {
			frame = make([]byte, length)
		}
		frame = frame[:length]
		if _, err := io.ReadFull(in, frame); err != nil {
			return damaged(err)
		}
		c, err := parseEvent(frame)
		if err != nil {
			return err
		}
		if enough, err := each(c); enough || err != nil {
			return err
		}
	}
}

// parseEvent reads a WatchEvent, whose object is in an envelope.
func parseEvent(frame []byte) (Change, error) {
	var c Change
	err := Fields(frame, func(number protowire.Number, value []byte) error {
		switch number {
		case 1:
			c.Kind = watch.EventType(value)
		case 2: // a RawExtension, whose raw bytes are field 1
			return Fields(value, func(number protowire.Number, raw []byte) error {
				if number != 1 {
					return nil
				}
				if len(raw) < len(envelope) || string(raw[:len(envelope)]) != envelope {
					return errDamaged
				}
				return Fields(raw[len(envelope):], func(number protowire.Number, object []byte) error {
					if number == 2 {
						c.Object = object
					}
					return nil
				})
			})
		}
		return nil
	})
	if err != nil || c.Kind == watch.Error {
		return c, err
	}
	c.ResourceVersion, err = metadata(c.Object, metadataVersion)
	return c, err
}

// The numbers of fields of any object and its metadata
// (k8s.io/apimachinery/pkg/apis/meta/v1, generated.proto).
const (
	objectMetadata  = 1
	metadataUID     = 5
	metadataVersion = 6
)

// ObjectUID reads the uid of any object.
func ObjectUID(object []byte) (types.UID, error) {
	uid, err := metadata(object, metadataUID)
	return types.UID(uid), err
}

// metadata reads a text out of any object's metadata.
func metadata(object []byte, field protowire.Number) (text string, err error) {
	err = Fields(object, func(number protowire.Number, value []byte) error {
		if number != objectMetadata {
			return nil
		}
		return Fields(value, func(number protowire.Number, value []byte) error {
			if number == field {
				text = string(value)
			}
			return nil
		})
	})
	return text, err
}
