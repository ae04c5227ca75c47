"""bench/tokenizer.sh's work: see there."""
import argparse
import gettext
import glob
import os
import subprocess
import sys
import tempfile
import time

DOCUMENT = 2000


def peer(path, text, threads, seconds):
    """The library's side, in a process of its own: the same documents, bytes, ids, best and median MB/s."""
    from tokenizers import Tokenizer
    t = Tokenizer.from_file(path)
    t.no_padding()
    t.no_truncation()
    data, docs, i = open(text, "rb").read(), [], 0
    while i < len(data):
        lf = data.find(b"\n", i + DOCUMENT) if i + DOCUMENT < len(data) else -1
        end = lf + 1 if lf >= 0 else len(data)
        docs.append(data[i:end].decode())
        i = end
    speed, begin = [], time.perf_counter()
    while time.perf_counter() - begin < seconds or len(speed) < 2:
        at = time.perf_counter()
        ids = sum(map(len, t.encode_batch_fast(docs, add_special_tokens=False)))
        speed.append(len(data) / 1e6 / (time.perf_counter() - at))
    speed.sort()
    print(len(data), ids, speed[-1], speed[len(speed) // 2])


def texts(folder, size=1_500_000):
    """English, program text, and text of many scripts, from what every Debian machine has."""
    def read(pattern):
        for p in sorted(glob.glob(pattern, recursive=True)):
            if os.path.isfile(p):
                yield open(p, encoding="utf-8", errors="ignore").read()

    def catalogues():
        for p in sorted(glob.glob("/usr/share/locale/*/LC_MESSAGES/*.mo")):
            try:
                with open(p, "rb") as f:
                    yield "\n".join(v for v in gettext.GNUTranslations(f)._catalog.values() if isinstance(v, str))[:8000]
            except (OSError, UnicodeDecodeError, ValueError, IndexError):
                pass

    out = {}
    for name, sources in (("english", [read("/usr/share/common-licenses/*"), read("/usr/share/doc/**/*.txt"), read("/usr/share/doc/**/README*")]),
                          ("code", [read(os.path.join(os.path.dirname(os.__file__), "*.py")), read("/usr/include/**/*.h")]),
                          ("scripts", [catalogues()])):
        text = ""
        for s in (x for source in sources for x in source):
            text += s
            if len(text.encode()) > size:
                break
        out[name] = os.path.join(folder, name + ".txt")
        with open(out[name], "wb") as f:
            f.write(text.encode()[:size].decode(errors="ignore").encode())
    return out


def measure(command, cores, parallel):
    env = {**os.environ, "TOKENIZERS_PARALLELISM": "true" if parallel else "false", "RAYON_NUM_THREADS": str(len(cores.split(",")))}
    out = subprocess.run(["taskset", "-c", cores, *command], capture_output=True, text=True, env=env)
    if out.returncode:
        raise SystemExit(out.stderr)
    size, ids, best, median = out.stdout.split()
    return int(size), int(ids), float(best), float(median)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder")
    p.add_argument("--names", default="llama-bpe,o200k,deepseek-v3,llama-spm,nomic-bert-moe,bert-bge")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=2)
    p.add_argument("--bench", default="build/bench_tokenizer")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = texts(folder)
        print("| tokenizer | text | bytes an id | hone MB/s | library MB/s | ratio | two cores: hone | library | ratio |")
        print("|---|---|---|---|---|---|---|---|---|")
        for name in a.names.split(","):
            path = os.path.join(a.folder, name + ".json")
            for text, file in files.items():
                row = []
                for cores in ("0", "0,1"):
                    threads = len(cores.split(","))
                    best = [0.0, 0.0]
                    for _ in range(a.rounds):
                        mine = measure([a.bench, path, file, str(threads), str(a.seconds)], cores, threads > 1)
                        theirs = measure([sys.executable, __file__, "--peer", path, file, str(threads), str(a.seconds)], cores, threads > 1)
                        if mine[:2] != theirs[:2]:
                            raise SystemExit(f"{name}, {text}: hone has {mine[1]} ids, the library {theirs[1]}")
                        best = [max(best[0], mine[2]), max(best[1], theirs[2])]
                    row += [f"{best[0]:.1f}", f"{best[1]:.1f}", f"{best[0] / best[1]:.2f}"]
                print(f"| {name} | {text} | {mine[0] / mine[1]:.1f} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        peer(sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5]))
    else:
        main()
