"""Makes the logs of jobs that become slow or stand still without an error, on any machine and without a GPU.

    python pace.py TROUBLE FORMAT [--fixed] [--to DIR]

Processes work and meet in each step as the ranks of a job do: a rank may run ahead of the slowest by DEPTH steps, as hosts run ahead of
their GPUs. With --last the job is gone after that step, as one that somebody killed. TROUBLE is what happens to one of them at step AT, and FORMAT how steps are printed, after the libraries that print so.
Nothing is trained, but times and order are those of the processes. With --to each rank has a file in DIR, else all share stdout.
"""
import argparse
import multiprocessing as mp
import os
import threading
import time

TROUBLES = {
    "stops": "a rank makes no further step, the others wait for it",
    "vanishes": "the same, and nothing else is printed",
    "slows": "all steps take SLOW times as long, because one rank does",
    "starves": "the same, and the time is spent waiting for data",
    "apart": "one rank is slow and the others do not wait for it",
    "none": "nothing",
}


def work(rank, args, reached, start):
    if args.to:
        out = os.open(os.path.join(args.to, f"rank_{rank}.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(out, 1)
    prefix = "" if args.to or args.ranks == 1 else f"[rank{rank}]: "

    def say(text):
        os.write(1, (prefix + text + "\n").encode())

    def stamp(form="%Y-%m-%d %H:%M:%S"):
        now = time.time()
        return time.strftime(form, time.localtime(now)), int(now % 1 * 1000)

    def heartbeat():
        while True:
            time.sleep(args.heartbeat)
            say("%s,%03d - monitor - INFO - alive, resident %d MiB, load %.2f" % (*stamp(), 51200 + rank, os.getloadavg()[0]))

    if args.heartbeat and args.format == "logging":
        threading.Thread(target=heartbeat, daemon=True).start()
    trouble = None if args.fixed else args.trouble
    ill = rank == args.ill
    last = time.perf_counter()
    for step in range(1, (args.last or args.steps) + 1):
        late = step >= args.at
        if late and ill and trouble in ("stops", "vanishes"):
            time.sleep(args.hang)
            os._exit(0)
        begin = time.perf_counter()
        if late and trouble == "starves":
            time.sleep(args.step * (args.slow - 1))
        data = time.perf_counter() - begin + 0.0003
        slow = args.slow if late and ill and trouble == "slows" or ill and trouble == "apart" else 1
        time.sleep(args.step * (2 if step <= 2 else slow))
        reached[rank] = step
        if trouble != "apart":
            while min(reached) < step - args.depth:
                if time.time() - start > args.hang and late and trouble in ("stops", "vanishes"):
                    os._exit(0)
                time.sleep(0.001)
        now = time.perf_counter()
        took, last = now - last, now
        report(say, stamp, args, rank, step, took, data)
    if not args.last:
        say("Training completed")


def report(say, stamp, args, rank, step, took, data):
    loss = 2.8 + 8 / step
    if args.format == "megatron" and rank == args.ranks - 1:
        say(f" [{stamp()[0]}] iteration {step:8d}/{args.steps:8d} | consumed samples: {step * 16:12d} | elapsed time per iteration (ms): {took * 1000:.1f} |"
            f" learning rate: 3.000000E-04 | global batch size:    16 | lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: 1.234 | number of skipped iterations:   0 | number of nan iterations:   0 |")
    elif args.format == "meters" and rank == 0:
        say(f"Epoch: [0][{step:4d}/{args.steps}]\tTime {took:6.3f} ({took:6.3f})\tData {data:6.3f} ({data:6.3f})\tLoss {loss:.4e} ({loss:.4e})\tAcc@1   1.56 (  1.56)\tAcc@5   6.25 (  6.25)")
    elif args.format == "nanogpt" and rank == 0:
        say(f"iter {step}: loss {loss:.4f}, time {took * 1000:.2f}ms, mfu 31.20%")
    elif args.format == "torchtitan":
        say("[titan] %s,%03d - root - INFO - step: %2d  loss: %7.4f  grad_norm: %7.4f  memory: 47.91GiB(34.3%%)  tps: %s  tflops: 312.40  mfu: 31.6%%"
            % (*stamp(), step, loss, 1.2, f"{round(8192 / took):,}"))
    elif args.format == "deepspeed" and rank == 0:
        say("[%s,%03d] [INFO] [logging.py:107:log_dist] [Rank 0] step=%d, skipped=0, lr=[0.0003], mom=[(0.9, 0.95)]" % (*stamp(), step))
        say("[%s,%03d] [INFO] [timer.py:264:stop] epoch=0/micro_step=%d/global_step=%d, RunningAvgSamplesPerSec=%s, CurrSamplesPerSec=%s, MemAllocated=31.4GB, MaxMemAllocated=66.02GB"
            % (*stamp(), step, step, 16 / took, 16 / took))
    elif args.format == "bar" and rank == 0:
        rate = f"{took:5.2f}s/it" if took >= 1 else f"{1 / took:5.2f}it/s"
        done = step * 10 // args.steps
        os.write(1, f"\r{step * 100 // args.steps:3d}%|{'█' * done}{' ' * (10 - done)}| {step}/{args.steps} [00:{int(step * took) % 60:02d}<01:00, {rate}]".encode())
        if step % 10 == 0:
            os.write(1, f"\n{{'loss': {loss:.4f}, 'grad_norm': 1.25, 'learning_rate': 0.0003, 'epoch': {step / args.steps:.2f}}}\n".encode())
    elif args.format == "logging":
        say("%s,%03d - train - INFO - step %d/%d loss %.4f" % (*stamp(), step, args.steps, loss))
    elif args.format == "plain":
        say(f"step {step} loss {loss:.4f} lr 3.0e-04 {took * 1000:.0f} ms")


def main():
    p = argparse.ArgumentParser(epilog="; ".join(f"{k}: {v}" for k, v in TROUBLES.items()))
    p.add_argument("trouble", choices=TROUBLES)
    p.add_argument("format", choices=["megatron", "meters", "nanogpt", "torchtitan", "deepspeed", "bar", "logging", "plain"])
    p.add_argument("--fixed", action="store_true")
    p.add_argument("--to")
    for name, value in dict(ranks=4, ill=3, at=60, steps=90, last=0, depth=1, heartbeat=20).items():
        p.add_argument("--" + name, type=int, default=value)
    for name, value in dict(step=0.05, slow=5.0, hang=5.0).items():
        p.add_argument("--" + name, type=float, default=value)
    args = p.parse_args()
    if args.to:
        os.makedirs(args.to, exist_ok=True)
    reached, start = mp.Array("i", args.ranks, lock=False), time.time()
    ranks = [mp.Process(target=work, args=(rank, args, reached, start)) for rank in range(args.ranks)]
    for r in ranks:
        r.start()
    for r in ranks:
        r.join()


if __name__ == "__main__":
    main()
