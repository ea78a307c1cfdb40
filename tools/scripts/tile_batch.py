#===- tile_batch.py - many runs by one tile-run ----------------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""A `tile-run --batch`: in, the options of one run; out, how it ends and what it printed.
The process is started when it is first needed and again after it died or was too slow.
Used by fuzz-programs.py and odd-shapes.py."""
import collections
import os
import select
import subprocess
import time

# status: an exit code of tile-run, or one of the words below.
Result = collections.namedtuple("Result", "status output")
SIGNALLED, TIMED_OUT = "died", "no end"
CHECK_FAILED, FAULT = 4, 5


class Batch:
    def __init__(self, tile_run, timeout):
        self.tile_run, self.timeout = tile_run, timeout
        self.process = None

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

    def start(self):
        self.process = subprocess.Popen([self.tile_run, "--batch"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0)

    def run(self, options):
        if not self.process or self.process.poll() is not None:
            self.close()
            self.start()
        try:
            self.process.stdin.write(" ".join(options).encode() + b"\n")
        except BrokenPipeError:
            pass
        return self.read()

    def read(self):
        output, deadline = b"", time.monotonic() + self.timeout
        stream = self.process.stdout
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([stream], [], [], left)[0]:
                self.close()
                return Result(TIMED_OUT, output.decode(errors="replace"))
            part = os.read(stream.fileno(), 1 << 16)
            if not part:
                code = self.process.wait()
                self.close()
                return Result(f"{SIGNALLED} ({code})", output.decode(errors="replace"))
            output += part
            text = output.decode(errors="replace")
            last = text[text.rfind("\n", 0, -1) + 1:]
            if last.startswith("exit ") and last.endswith("\n"):
                return Result(int(last[5:]), text[:len(text) - len(last)])
