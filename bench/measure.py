"""Run a command pinned to cores and watch the anonymous memory of its processes (RssAnon in /proc/PID/status)."""
import os
import signal
import subprocess
import threading
import time


def rss_anon(pid):
    """Bytes; 0 for a process that is gone."""
    try:
        with open(f"/proc/{pid}/status") as f:
            for line in f:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        pass
    return 0


class Peak(threading.Thread):
    """Samples a process's anonymous memory until `stop`; `peak` is in bytes."""

    def __init__(self, pid, interval=0.01):
        super().__init__(daemon=True)
        self.pid, self.interval, self.peak, self.done = pid, interval, 0, threading.Event()
        self.start()

    def run(self):
        while not self.done.is_set():
            self.peak = max(self.peak, rss_anon(self.pid))
            self.done.wait(self.interval)

    def stop(self):
        self.done.set()
        self.join()
        return self.peak


def run(command, cores, cwd=None, stop_at=None):
    """(output, seconds, peak bytes). `stop_at(line)` may end the run early. Raises RuntimeError with the output if it fails."""
    threads = str(len(os.sched_getaffinity(0)) if cores is None else len(cores))
    env = {**os.environ, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
    pin = None if cores is None else lambda: os.sched_setaffinity(0, cores)
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=cwd, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               preexec_fn=pin)
    peak, lines, stopped = Peak(process.pid), [], False
    for line in process.stdout:
        lines.append(line)
        if stop_at and stop_at(line):
            process.send_signal(signal.SIGTERM)
            stopped = True
            break
    code = process.wait()
    if code and not stopped:
        raise RuntimeError(f"{' '.join(map(str, command))} failed ({code}):\n{''.join(lines)[-4000:]}")
    return "".join(lines), time.monotonic() - begin, peak.stop()
