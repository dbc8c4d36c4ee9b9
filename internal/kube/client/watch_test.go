package client

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
)

// frame is an event as the API server sends it.
func frame(t testing.TB, kind watch.EventType, object runtime.Object) []byte {
	t.Helper()
	scheme := runtime.NewScheme()
	var inner bytes.Buffer
	if err := protobuf.NewSerializer(scheme, scheme).Encode(object, &inner); err != nil {
		t.Fatal(err)
	}
	event := &metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: inner.Bytes()}}
	data, err := event.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
}

func changed(t testing.TB, version string) *corev1.Pod {
	t.Helper()
	pod := plainPod(0)
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	pod.ResourceVersion = version
	return pod
}

func TestReadEventsReadsOneAfterTheOther(t *testing.T) {
	t.Parallel()
	first := frame(t, watch.Added, changed(t, "7"))
	stream := append(bytes.Clone(first), frame(t, watch.Deleted, changed(t, "9"))...)
	var got []string
	err := readEvents(bytes.NewReader(stream), func(c Change) (bool, error) {
		var pod corev1.Pod
		err := pod.Unmarshal(c.Object)
		got = append(got, string(c.Kind)+" "+c.ResourceVersion+" "+pod.Name)
		return false, err
	})
	if err != nil || len(got) != 2 || got[0] != "ADDED 7 web-0" || got[1] != "DELETED 9 web-0" {
		t.Errorf("got %v (%v)", got, err)
	}
	for n := range stream {
		events := 0
		err := readEvents(bytes.NewReader(stream[:n]), func(Change) (bool, error) { events++; return false, nil })
		if whole := n == 0 || n == len(first); whole != (err == nil) || !whole && !errors.Is(err, errDamaged) {
			t.Fatalf("cut after %d of %d bytes: %d events, %v", n, len(stream), events, err)
		}
	}
}

func FuzzReadEvents(f *testing.F) {
	f.Add(frame(f, watch.Added, changed(f, "7")))
	f.Add([]byte{0, 0, 0, 1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		read := 0
		err := readEvents(bytes.NewReader(data), func(c Change) (bool, error) {
			read += len(c.Object)
			return false, nil
		})
		if read > len(data) {
			t.Errorf("%d bytes of objects came out of %d (%v)", read, len(data), err)
		}
	})
}
