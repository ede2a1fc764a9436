// Package corpus writes logs of any size that look like those of a large training run, for benchmarks: progress of several
// frameworks, NCCL's chatter, warnings, progress bars, colours, very long lines, bytes that are not UTF-8, tracebacks that were
// handled, and near misses of known failures. The run fails in its last lines, on eight ranks whose tracebacks are interleaved.
package corpus

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// Kind chooses what a log is made of.
type Kind string

// The kinds of log. Adversarial is the worst case for a scan: every line holds the beginning of a known failure.
const (
	Ordinary    Kind = "ordinary"
	Adversarial Kind = "adversarial"
)

// Write writes a log of at least size bytes. The same seed gives the same log.
func Write(w io.Writer, size int64, kind Kind, seed uint64) error {
	if kind != Ordinary && kind != Adversarial {
		return fmt.Errorf("corpus: no kind of log is named %q: use %q or %q", kind, Ordinary, Adversarial)
	}
	c := &writer{out: bufio.NewWriterSize(w, 1<<20), rnd: rand.New(rand.NewPCG(seed, 7))}
	for c.written < size && c.err == nil {
		if kind == Adversarial {
			c.nearMiss()
		} else {
			c.ordinary()
		}
	}
	c.failure()
	if c.err != nil {
		return c.err
	}
	return c.out.Flush()
}

type writer struct {
	out     *bufio.Writer
	rnd     *rand.Rand
	step    int
	written int64
	err     error
}

func (c *writer) printf(format string, args ...any) {
	n, err := fmt.Fprintf(c.out, format, args...)
	c.written += int64(n)
	if err != nil {
		c.err = err
	}
}

// ordinary writes one piece of a run that goes well. The shares are those of a log of many ranks with NCCL_DEBUG=INFO; a few hundred
// exceptions in each GB are handled.
func (c *writer) ordinary() {
	switch p := c.rnd.IntN(100000); {
	case p < 36000:
		c.megatron()
	case p < 54000:
		c.trainer()
	case p < 76000:
		c.nccl()
	case p < 86000:
		c.server()
	case p < 93000:
		c.warning()
	case p < 96000:
		c.bar()
	case p < 99000:
		c.config()
	case p < 99830:
		c.coloured()
	case p < 99979:
		c.printf("%s: caf\xe9 na\xefve r\xe9sum\xe9 \xff\xfe row %d skipped\n", c.clock(), c.rnd.IntN(1e6))
	case p < 99989:
		c.handled()
	case p < 99999:
		c.nearMiss()
	default:
		c.long()
	}
}

func (c *writer) clock() string {
	return fmt.Sprintf("2026-03-%02d %02d:%02d:%02d", 1+c.rnd.IntN(28), c.rnd.IntN(24), c.rnd.IntN(60), c.rnd.IntN(60))
}

func (c *writer) megatron() {
	c.step++
	c.printf(" [%s] iteration %8d/ 1500000 | consumed samples: %12d | elapsed time per iteration (ms): %.1f | throughput per GPU (TFLOP/s/GPU): %.1f | learning rate: %.6E | global batch size: %5d | lm loss: %.6E | loss scale: 1.0 | grad norm: %.3f | number of skipped iterations:   0 | number of nan iterations:   0 |\n",
		c.clock(), c.step, c.step*1024, 5000+900*c.rnd.Float64(), 400+30*c.rnd.Float64(), 3e-4*c.rnd.Float64(), 1024, 1.5+c.rnd.Float64(), c.rnd.Float64())
}

func (c *writer) trainer() {
	c.printf("{'loss': %.4f, 'grad_norm': %.6f, 'learning_rate': %.6e, 'mean_token_accuracy': %.4f, 'num_tokens': %d.0, 'epoch': %.2f}\n",
		1+c.rnd.Float64(), c.rnd.Float64(), 2e-5*c.rnd.Float64(), c.rnd.Float64(), c.rnd.IntN(1e9), 3*c.rnd.Float64())
}

func (c *writer) nccl() {
	host, pid, gpu := c.rnd.IntN(128), 100000+c.rnd.IntN(30000), c.rnd.IntN(8)
	head := fmt.Sprintf("node-%03d:%d:%d [%d] NCCL INFO ", host, pid, pid+c.rnd.IntN(900), gpu)
	switch c.rnd.IntN(5) {
	case 0:
		c.printf("%sChannel %02d/0 : %d[%d] -> %d[%d] via P2P/CUMEM/read\n", head, c.rnd.IntN(24), host, gpu, host+1, gpu)
	case 1:
		c.printf("%sChannel %02d/0 : %d[%d] -> %d[%d] [send] via NET/IB/%d/GDRDMA\n", head, c.rnd.IntN(24), host, gpu, host+8, gpu, gpu)
	case 2:
		c.printf("%sTrees [0] %d/-1/-1->%d->%d [1] %d/-1/-1->%d->%d\n", head, host, gpu, host, host+1, gpu, host)
	case 3:
		c.printf("%sncclCommInitRankConfig comm 0x%08x rank %d nranks 1024 cudaDev %d nvmlDev %d busId %x commId 0x%016x - Init COMPLETE\n",
			head, c.rnd.Uint32(), host*8+gpu, gpu, gpu, 0x1b000+gpu*0x1000, c.rnd.Uint64())
	default:
		c.printf("%sAllReduce: opCount %x sendbuff 0x7f%010x recvbuff 0x7f%010x count %d datatype 9 op 0 root 0 comm 0x%08x [nranks=1024] stream 0x%08x\n",
			head, c.rnd.IntN(1<<20), c.rnd.IntN(1<<30), c.rnd.IntN(1<<30), c.rnd.IntN(1<<28), c.rnd.Uint32(), c.rnd.Uint32())
	}
}

func (c *writer) server() {
	stamp := fmt.Sprintf("03-%02d %02d:%02d:%02d", 1+c.rnd.IntN(28), c.rnd.IntN(24), c.rnd.IntN(60), c.rnd.IntN(60))
	if c.rnd.IntN(2) == 0 {
		c.printf("INFO %s [loggers.py:116] Engine 000: Avg prompt throughput: %.1f tokens/s, Avg generation throughput: %.1f tokens/s, Running: %d reqs, Waiting: %d reqs, GPU KV cache usage: %.1f%%, Prefix cache hit rate: %.1f%%\n",
			stamp, 9000*c.rnd.Float64(), 4000*c.rnd.Float64(), c.rnd.IntN(256), c.rnd.IntN(64), 100*c.rnd.Float64(), 100*c.rnd.Float64())
		return
	}
	c.printf("INFO:     10.0.%d.%d:%d - \"POST /v1/chat/completions HTTP/1.1\" 200 OK\n", c.rnd.IntN(256), c.rnd.IntN(256), 30000+c.rnd.IntN(30000))
}

func (c *writer) warning() {
	texts := []string{
		"[rank%d]:W0304 10:11:12.123000 %d torch/_dynamo/convert_frame.py:906] [0/8] torch._dynamo hit config.recompile_limit (8)\n",
		"[rank%d]: /opt/conda/lib/python3.12/site-packages/torch/utils/checkpoint.py:%d: UserWarning: None of the inputs have requires_grad=True. Gradients will be None\n",
		"[default%d]:/opt/conda/lib/python3.12/site-packages/transformers/tokenization_utils_base.py:%d: FutureWarning: `tokenizer` is deprecated and will be removed in a later version. Use `processing_class` instead.\n",
		"(RayTrainWorker pid=%d, ip=10.0.3.%d) [rank: 3] GPU available: True (cuda), used: True\n",
		"%d: slurmstepd: task/cgroup: _memcg_initialize: job: alloc=%dMB mem.limit=2031616MB memsw.limit=unlimited\n",
		"[rank%d]: saving checkpoint at iteration %8d to checkpoints/ in torch_dist format\n",
	}
	c.printf(texts[c.rnd.IntN(len(texts))], c.rnd.IntN(8), c.rnd.IntN(9000))
}

// bar writes a progress bar as tqdm does: many states behind carriage returns in one line.
func (c *writer) bar() {
	const width = 20
	for i := 0; i <= width; i++ {
		c.printf("\rEpoch %d: %3d%%|%s%s| %d/%d [%02d:%02d<%02d:%02d, %5.2fit/s]", c.step%7, i*100/width, strings.Repeat("█", i), strings.Repeat(" ", width-i),
			i*50, width*50, i/2, c.rnd.IntN(60), (width-i)/2, c.rnd.IntN(60), 9*c.rnd.Float64())
	}
	c.printf("\n")
}

func (c *writer) config() {
	c.printf("------------------------ arguments ------------------------\n")
	names := []string{"accumulate_allreduce_grads_in_fp32", "adam_beta1", "attention_dropout", "bf16", "context_parallel_size", "distributed_backend",
		"ffn_hidden_size", "hidden_size", "kv_channels", "micro_batch_size", "num_attention_heads", "num_layers", "pipeline_model_parallel_size",
		"seq_length", "tensor_model_parallel_size", "tokenizer_type", "train_iters", "use_flash_attn", "world_size"}
	for _, name := range names {
		c.printf("  %s %s %d\n", name, strings.Repeat(".", 48-len(name)), c.rnd.IntN(8192))
	}
	c.printf("-------------------- end of arguments ---------------------\n")
}

func (c *writer) coloured() {
	c.printf("\x1b[36m(EngineCore_DP0 pid=%d)\x1b[0;0m \x1b[32mINFO\x1b[0m %s [gpu_model_runner.py:%d] Graph capturing finished in %d secs, took %.2f GiB\n",
		c.rnd.IntN(90000), c.clock(), c.rnd.IntN(3000), c.rnd.IntN(60), 3*c.rnd.Float64())
}

// handled writes a traceback that the program survived.
func (c *writer) handled() {
	rank := c.rnd.IntN(8)
	c.printf("[rank%d]: retrying shard %d after a failed download\n", rank, c.rnd.IntN(1000))
	c.printf("[rank%d]: Traceback (most recent call last):\n", rank)
	c.printf("[rank%d]:   File \"/opt/train/data/stream.py\", line %d, in fetch\n", rank, c.rnd.IntN(400))
	c.printf("[rank%d]:     return self.session.get(url, timeout=self.timeout)\n", rank)
	c.printf("[rank%d]: requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='data.example.org', port=443): Read timed out. (read timeout=%d)\n", rank, c.rnd.IntN(60))
	c.printf("[rank%d]: shard %d is complete\n", rank, c.rnd.IntN(1000))
}

// nearMiss writes a line that begins like a known failure and is none.
func (c *writer) nearMiss() {
	texts := []string{
		"%s INFO memory: Tried to allocate less than planned, %d MiB stay free, no CUDA out of memory so far\n",
		"%s watchdog: no Watchdog caught collective operation timeout in the last %d minutes\n",
		"%s health: NCCL error counter is %d, unhandled system error counter is 0, remote process exited counter is 0\n",
		"%s health: Xid counter is 0, uncorrectable ECC error counter is 0, device-side assert triggered 0 of %d times\n",
		"%s doctor: No dot product attention backend is missing, %d backends are available for the provided inputs\n",
		"%s doctor: CUBLAS_STATUS_ALLOC_FAILED and CUDNN_STATUS_NOT_SUPPORTED were seen 0 times in %d calls\n",
		"%s loader: DataLoader worker %d is alive, it was not killed by signal\n",
		"%s store: %d keys, no connection reset by peer, no address already in use, no space left on device\n",
		"%s resume: strict loading is off, Missing key(s) in state_dict are filled, size mismatch for %d parameters is ignored\n",
	}
	c.printf(texts[c.rnd.IntN(len(texts))], c.clock(), c.rnd.IntN(1000))
}

// long writes a line of 200 KB to 2 MB, as a program that prints its data does.
func (c *writer) long() {
	n := 200_000 + c.rnd.IntN(1_800_000)
	c.printf("batch ids: [")
	for wrote := 0; wrote < n; wrote += 7 {
		c.printf("%5d, ", c.rnd.IntN(50000))
	}
	c.printf("]\n")
}

// failure ends the log: rank 3 runs out of memory, the others find its connection closed, and the launcher reports it.
func (c *writer) failure() {
	const ranks = 8
	var lines [ranks][]string
	for rank := range lines {
		lines[rank] = []string{"Traceback (most recent call last):",
			"  File \"/opt/train/pretrain.py\", line 212, in <module>", "    main()",
			"  File \"/opt/train/pretrain.py\", line 187, in main", "    train_step(model, batch)",
			"  File \"/opt/train/step.py\", line 61, in train_step", "    loss.backward()"}
		last := "torch.distributed.DistBackendError: NCCL communicator was aborted on rank %d."
		if rank == 3 {
			last = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU %d has a total capacity of 79.10 GiB of which 1.33 GiB is free. Including non-PyTorch memory, this process has 77.76 GiB memory in use. Of the allocated memory 70.10 GiB is allocated by PyTorch, and 5.20 GiB is reserved by PyTorch but unallocated."
		}
		lines[rank] = append(lines[rank], fmt.Sprintf(last, rank))
	}
	for _, line := range lines[3] {
		c.printf("[rank3]: %s\n", line)
	}
	for i := range lines[0] {
		for rank := range lines {
			if rank != 3 {
				c.printf("[rank%d]: %s\n", rank, lines[rank][i])
			}
		}
	}
	c.printf("E0304 10:20:30.100000 4711 torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: 1) local_rank: 3 (pid: 4803) of binary: /opt/conda/bin/python\n")
}
