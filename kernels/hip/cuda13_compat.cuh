// SPDX-License-Identifier: MIT
// What HIP 5 and 6's NVIDIA headers expect of CUDA and CUDA 13 no longer has: overloads with the
// old argument lists, stand-ins for removed calls, the dropped device properties. Nothing here is
// called by us; it only lets the headers be read. Include through hip_runtime.cuh.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

// CUDA 13 dropped these properties: they read as 0, and the device layer asks for attributes
// instead.
struct MlaCudaDeviceProp : cudaDeviceProp {
  int clockRate = 0;
  int memoryClockRate = 0;
  int computeMode = 0;
  int cooperativeMultiDeviceLaunch = 0;
  int kernelExecTimeoutEnabled = 0;
};

inline constexpr cudaDeviceAttr cudaDevAttrCooperativeMultiDeviceLaunch =
    static_cast<cudaDeviceAttr>(96);  // its number in CUDA 12; CUDA 13 answers with an error

inline cudaMemLocation mla_memory_location(int device) {
  return {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
}
inline cudaError_t cudaMemAdvise(const void* data,
                                 size_t bytes,
                                 cudaMemoryAdvise advice,
                                 int device) {
  return cudaMemAdvise(data, bytes, advice, mla_memory_location(device));
}
inline cudaError_t cudaMemPrefetchAsync(const void* data,
                                        size_t bytes,
                                        int device,
                                        cudaStream_t stream) {
  return cudaMemPrefetchAsync(data, bytes, mla_memory_location(device), 0, stream);
}

#undef cuCtxCreate
inline CUresult cuCtxCreate(CUcontext* context, unsigned int flags, CUdevice device) {
  return cuCtxCreate_v4(context, nullptr, flags, device);
}

// Graph calls gained an argument for edge data.
using MlaGraphNodes = const cudaGraphNode_t*;
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph,
                                            MlaGraphNodes from,
                                            MlaGraphNodes to,
                                            size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph,
                                               MlaGraphNodes from,
                                               MlaGraphNodes to,
                                               size_t count) {
  return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph,
                                     cudaGraphNode_t* from,
                                     cudaGraphNode_t* to,
                                     size_t* count) {
  return cudaGraphGetEdges(graph, from, to, nullptr, count);
}
inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                cudaGraphNode_t* nodes,
                                                size_t* count) {
  return cudaGraphNodeGetDependencies(node, nodes, nullptr, count);
}
inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                  cudaGraphNode_t* nodes,
                                                  size_t* count) {
  return cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}
inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                       cudaGraphNode_t* nodes,
                                                       size_t count,
                                                       unsigned int flags) {
  return cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags);
}
inline cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
                                               cudaStreamCaptureStatus* status,
                                               unsigned long long* id,
                                               cudaGraph_t* graph,
                                               const cudaGraphNode_t** nodes,
                                               size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, nullptr, count);
}

// Texture references and launches on several devices are gone for good.
template <class T, int kDimensions, cudaTextureReadMode kMode>
struct texture;
#define MLA_REMOVED_CALL(call)              \
  template <class... Arguments>             \
  inline cudaError_t call(Arguments&&...) { \
    return cudaErrorNotSupported;           \
  }
MLA_REMOVED_CALL(cudaBindTexture)
MLA_REMOVED_CALL(cudaBindTexture2D)
MLA_REMOVED_CALL(cudaBindTextureToArray)
MLA_REMOVED_CALL(cudaUnbindTexture)
MLA_REMOVED_CALL(cudaGetTextureAlignmentOffset)
MLA_REMOVED_CALL(cudaLaunchCooperativeKernelMultiDevice)
#undef MLA_REMOVED_CALL
