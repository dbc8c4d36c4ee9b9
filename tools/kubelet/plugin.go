package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	gpuResource = "nvidia.com/gpu"
	gpus        = 8
)

// plugin is a device plugin whose GPUs are healthy, and need nothing in a container.
type plugin struct {
	pluginapi.UnimplementedDevicePluginServer
}

// GetDevicePluginOptions returns none: nothing is to be called before a container starts.
func (plugin) GetDevicePluginOptions(context.Context, *pluginapi.Empty) (*pluginapi.DevicePluginOptions, error) {
	return &pluginapi.DevicePluginOptions{}, nil
}

// ListAndWatch sends the GPUs once: none changes.
func (plugin) ListAndWatch(_ *pluginapi.Empty, stream grpc.ServerStreamingServer[pluginapi.ListAndWatchResponse]) error {
	var list pluginapi.ListAndWatchResponse
	for i := range gpus {
		list.Devices = append(list.Devices, &pluginapi.Device{ID: "gpu-" + strconv.Itoa(i), Health: pluginapi.Healthy})
	}
	if err := stream.Send(&list); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

// Allocate answers for each container.
func (plugin) Allocate(_ context.Context, request *pluginapi.AllocateRequest) (*pluginapi.AllocateResponse, error) {
	var response pluginapi.AllocateResponse
	for range request.ContainerRequests {
		response.ContainerResponses = append(response.ContainerResponses, &pluginapi.ContainerAllocateResponse{})
	}
	return &response, nil
}

// servePlugin registers the plugin with the kubelet, and serves it until it is stopped.
func servePlugin(ctx context.Context) (stop func(), err error) {
	// The kubelet empties the folder before it listens there.
	if err := until(ctx, "the kubelet", func(context.Context) error { _, err := os.Stat(pluginapi.KubeletSocket); return err }); err != nil {
		return nil, err
	}
	const name = "kubelet-trial.sock"
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", filepath.Join(pluginapi.DevicePluginPath, name))
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer()
	pluginapi.RegisterDevicePluginServer(server, plugin{})
	go func() { _ = server.Serve(listener) }()
	kubelet, err := grpc.NewClient("unix://"+pluginapi.KubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		server.Stop()
		return nil, err
	}
	defer func() { _ = kubelet.Close() }()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request := &pluginapi.RegisterRequest{Version: pluginapi.Version, Endpoint: name, ResourceName: gpuResource}
	if _, err := pluginapi.NewRegistrationClient(kubelet).Register(ctx, request, grpc.WaitForReady(true)); err != nil {
		server.Stop()
		return nil, fmt.Errorf("register the device plugin: %w", err)
	}
	return server.Stop, nil
}
