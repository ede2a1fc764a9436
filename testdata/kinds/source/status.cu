// Texts of the result codes.
#include <cuda_runtime.h>
#include <stdexcept>

namespace fit {

const char* text(int code) {
  switch (code) {
    case 2: return "CUDA error: out of memory";
    case 209: return "CUDA error: no kernel image is available for execution on the device";
  }
  return "unknown";
}

__global__ void probe(int* x) {
  x[threadIdx.x] = 1;
}

}  // namespace fit
