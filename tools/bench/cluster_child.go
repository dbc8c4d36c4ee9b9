//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
)

// childVariable has the program measure one thing, print its nanoseconds and end.
const childVariable = "GPUPOOL_BENCH_CHILD"

// pageSize is gpupool's own.
const pageSize = 5000

func measureInChild(ctx context.Context, what string) error {
	client, err := kubeclient.Open(kubeclient.Config{}.WithEnvironment(os.Getenv), "gpupool-bench")
	if err != nil {
		return err
	}
	if _, err := client.UID(ctx); err != nil { // the connection is there already
		return err
	}
	started := time.Now()
	switch what {
	case "download":
		err = download(ctx, client)
	case "scan":
		var seen gpu.Observation
		seen, err = kubecluster.New(client).Observe(ctx, gpu.ObserveOptions{List: true})
		if err == nil && len(seen.Pods) == 0 {
			err = fmt.Errorf("no pod with GPUs was seen")
		}
	default:
		err = fmt.Errorf("nothing is called %q", what)
	}
	if err != nil {
		return err
	}
	fmt.Println(time.Since(started).Nanoseconds())
	return nil
}

// download gets the same pages in the same encoding, and drops their pods.
func download(ctx context.Context, client *kubeclient.Client) error {
	for token := ""; ; {
		request := client.Kubernetes().CoreV1().RESTClient().Get().Resource("pods").Param("limit", strconv.Itoa(pageSize)).
			SetHeader("Accept", "application/vnd.kubernetes.protobuf")
		if token != "" {
			request.Param("continue", token)
		}
		body, err := request.Stream(ctx)
		if err != nil {
			return err
		}
		head := make([]byte, 4096)
		n, err := io.ReadAtLeast(body, head, len(head))
		if err == nil {
			_, err = io.Copy(io.Discard, body)
		}
		_ = body.Close()
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		if token, err = nextToken(head[:n]); err != nil || token == "" {
			return err
		}
	}
}

// nextToken finds the token in the beginning of a page, where its ListMeta is.
func nextToken(head []byte) (string, error) {
	const skip = 4 // "k8s\x00"
	fields := newFields(head[skip:])
	for fields.next() {
		if fields.number != 2 { // the list
			continue
		}
		list := newFields(fields.value)
		for list.next() {
			if list.number == 1 {
				var meta metav1.ListMeta
				err := meta.Unmarshal(list.value)
				return meta.Continue, err
			}
		}
	}
	return "", fmt.Errorf("a page does not begin with what it says about itself")
}
