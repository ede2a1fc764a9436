package matcher_test

import (
	"slices"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
)

// TestWordings: each line, alone in a log and without a traceback, is how some library or tool prints a failure. What is asked of
// short words besides, so that naming them proves nothing, must not lose these.
func TestWordings(t *testing.T) {
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	for line, id := range map[string]string{
		"numba.cuda.cudadrv.driver.CudaAPIError: [710] Call to cuMemcpyDtoH results in CUDA_ERROR_ASSERT":             "device-assert",
		"cupy_backends.cuda.api.runtime.CUDARuntimeError: cudaErrorAssert: device-side assert triggered":              "device-assert",
		"gpu-07:811:902 [3] enqueue.cc:1204 NCCL WARN Cuda failure 710 'device-side assert triggered'":                "device-assert",
		"INTERNAL: Failed to launch CUDA kernel: CUDA_ERROR_ASSERT: device-side assert triggered":                     "device-assert",
		"E0000 00:00:1 cuda_event.cc:29] failed to synchronize the stop event: CUDA_ERROR_ECC_UNCORRECTABLE":          "xid-ecc-uncorrectable",
		"  what():  CUDA error: uncorrectable ECC error encountered":                                                  "xid-ecc-uncorrectable",
		"numba.cuda.cudadrv.driver.CudaAPIError: [702] Call to cuCtxSynchronize results in CUDA_ERROR_LAUNCH_TIMEOUT": "cuda-launch-timeout",
		"cupy_backends.cuda.api.runtime.CUDARuntimeError: cudaErrorSystemNotReady: system not yet initialized":        "cuda-fabric-manager",
		"gpu-07:811:902 [3] init.cc:1204 NCCL WARN Cuda failure 802 'system not yet initialized'":                     "cuda-fabric-manager",
		"E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:522] CUDNN_STATUS_NOT_SUPPORTED":                   "cudnn-not-supported",
		"CUDNN_STATUS_NOT_SUPPORTED":                                                                                                "cudnn-not-supported",
		"cp: error writing '/ckpt/step-100.pt': No space left on device":                                                            "disk-full",
		"thread 'main' panicked: Os { code: 28, message: No space left on device (os error 28) }":                                   "disk-full",
		"sqlite3.OperationalError: database or disk is full":                                                                        "disk-full",
		"terminate called after throwing an instance of 'std::bad_alloc'":                                                           "host-bad-alloc",
		"  what():  std::bad_alloc":                                                                                                 "host-bad-alloc",
		"torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1269, unhandled system error, NCCL version 2.21.5": "nccl-unhandled-system-error",
		"RuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details)":                                   "nccl-unhandled-system-error",
		"tensorflow.python.framework.errors_impl.UnknownError: ncclAllReduce failed: unhandled cuda error":                          "nccl-unhandled-cuda-error",
		"gpu-07: Test NCCL failure common.cu:958 'remote process exited or there was a network error / '":                           "nccl-remote-peer-gone",
		"Unable to determine the device handle for GPU 0000:4E:00.0: GPU is lost.  Reboot the system to recover this GPU":           "gpu-lost",
		"NVRM: nvAssertFailedNoLog: Assertion failed: GPU lost from the bus [NV_ERR_GPU_IS_LOST] (0x0000000F)":                      "gpu-lost",
		"slurmstepd-n01: error: Exceeded job memory limit":                                                                          "slurm-oom-kill",
		"slurmstepd-n01: error: Job 848444 exceeded memory limit (33715636 > 32757760), being killed":                               "slurm-oom-kill",
		"slurmstepd: error: Step 4242.0 exceeded memory limit (67112960 > 67108864), being killed":                                  "slurm-oom-kill",
		"accept: too many clients: [Errno 24] Too many open files":                                                                  "too-many-open-files",
		"libgomp: Thread creation failed: Resource temporarily unavailable":                                                         "thread-limit",
		"curl: (60) SSL: certificate verify failed (unable to get local issuer certificate)":                                        "tls-certificate",
		"inotify_init1 failed: too many open files":                                                                                 "inotify-limit",
		"train-0   0/1     ImagePullBackOff   0          2m":                                                                        "k8s-image-pull",
		"train-0   0/1     OOMKilled   0          2m":                                                                               "k8s-oomkilled",
		`{"containerID":"x","exitCode":137,"reason":"OOMKilled"}`:                                                                   "k8s-oomkilled",
		"Failed to initialize NVML: Driver/library version mismatch":                                                                "nvml-mismatch",
		"NCCL WARN no device found matching exactly mlx5_9, verify NCCL_OOB_NET_IFNAME":                                             "nccl-socket-ifname-missing",
		"RuntimeError: PytorchStreamReader failed finding central directory":                                                        "checkpoint-archive-damaged",
		"RuntimeError: PytorchStreamReader failed locating file data.pkl: file not found":                                           "checkpoint-archive-record",
		"OSError: image file is truncated":                                                                                          "image-unreadable",
		`AttributeError: module "numpy" has no attribute "bool"`:                                                                    "numpy-name-removed",
		"ImportError: cannot import name `cached_download` from `huggingface_hub`":                                                  "import-name-removed",
		`RuntimeError: "addmm_impl_cpu_" not implemented for "Half"`:                                                                "half-on-cpu",
		"  ERROR: Failed building wheel for flash-attn":                                                                             "kernel-package-no-wheel",
	} {
		found := diagnosed(t, engine, line+"\n")
		if !slices.ContainsFunc(found, func(d report.Diagnosis) bool { return d.ID == id }) {
			got := "nothing"
			if len(found) > 0 {
				got = found[0].ID
			}
			t.Errorf("%q is %s, not %s", line, got, id)
		}
	}
}
