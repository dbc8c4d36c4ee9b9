package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// plainPod is a pod with something in each of its parts.
func plainPod(n int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("web-%d", n), Namespace: "web", Labels: map[string]string{"app": "web"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet", FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:status":{}}`, 100))}},
		},
		Spec:   corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "main"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// encoded is a list as the API server sends it.
func encoded(t testing.TB, list *corev1.PodList) []byte {
	t.Helper()
	list.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}
	scheme := runtime.NewScheme()
	var out bytes.Buffer
	if err := protobuf.NewSerializer(scheme, scheme).Encode(list, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func pagesOf(n int) *corev1.PodList {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "token"}}
	for i := range n {
		list.Items = append(list.Items, *plainPod(i))
	}
	return list
}

func TestReadListHandsOverEachObject(t *testing.T) {
	t.Parallel()
	var (
		token string
		names []string
	)
	err := readList(bytes.NewReader(encoded(t, pagesOf(3))), func(more string) {
		token = more
		if len(names) > 0 {
			t.Error("what the page says about itself came after its first object")
		}
	}, func(object []byte) error {
		var pod corev1.Pod
		err := pod.Unmarshal(object)
		names = append(names, pod.Name)
		return err
	})
	if err != nil || fmt.Sprint(names) != "[web-0 web-1 web-2]" || token != "token" {
		t.Errorf("got %v and %q (%v)", names, token, err)
	}
}

func TestReadListNoticesEveryCut(t *testing.T) {
	t.Parallel()
	whole := encoded(t, pagesOf(2))
	// Two empty strings follow the list in its envelope.
	const tail = 4
	if len(whole) <= tail {
		t.Fatalf("the list has %d bytes", len(whole))
	}
	for n := range len(whole) - tail {
		err := readList(bytes.NewReader(whole[:n]), func(string) {}, func([]byte) error { return nil })
		if !errors.Is(err, errDamaged) {
			t.Fatalf("cut after %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

func TestReadListTakesNoImpossibleLengthForAnEmptyList(t *testing.T) {
	t.Parallel()
	for _, length := range []uint64{1, 1 << 62, 1 << 63, math.MaxUint64} {
		page := protowire.AppendVarint(append([]byte(envelope), 2<<3|byte(protowire.BytesType)), length)
		if err := readList(bytes.NewReader(page), func(string) {}, func([]byte) error { return nil }); !errors.Is(err, errDamaged) {
			t.Errorf("a list of %d bytes of which none came: %v", length, err)
		}
	}
}

func FuzzReadList(f *testing.F) {
	f.Add(encoded(f, pagesOf(2)))
	f.Add([]byte(envelope))
	f.Add([]byte("k8s\x00\x12\x03\x12\x80\x80"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var items int
		err := readList(io.MultiReader(bytes.NewReader(data)), func(string) {}, func(object []byte) error {
			items += len(object)
			return nil
		})
		if items > len(data) {
			t.Errorf("%d bytes of objects came out of %d (%v)", items, len(data), err)
		}
	})
}
