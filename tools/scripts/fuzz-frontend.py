#!/usr/bin/env python3
#===- fuzz-frontend.py - arbitrary bytes to parser and checker -*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Runs a libFuzzer target of tools/fuzzers on several cores and counts the inputs.

  fuzz-frontend.py --fuzzer build-fuzz/bin/tilec-check-fuzzer --corpus corpus --jobs 16
                   --runs 10000000 --seconds 600 --keep findings

Jobs are processes of their own, each with a copy of the corpus: a shared one grows so
quickly that reading it takes most of the time. One that ends with a finding is started
again, with another seed; one that does not end in time is ended, and what it had made by
then counts. Needs Python and the fuzzer, nothing else. Exit status 1 when there was a
finding.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time


class Campaign:
    def __init__(self, options):
        self.options = options
        self.deadline = time.monotonic() + options.seconds
        self.lock = threading.Lock()
        self.inputs, self.findings, self.coverage = 0, [], 0

    def job(self, number, runs):
        """One job: the fuzzer, as often as it takes to make its runs in the time."""
        with tempfile.TemporaryDirectory() as folder:
            corpus = os.path.join(folder, "corpus")
            shutil.copytree(self.options.corpus, corpus)
            attempt = 0
            while runs > 0 and (left := int(self.deadline - time.monotonic())) >= 2:
                made, failed = self.fuzz(corpus, runs, left, self.options.seed + number + 1000 * attempt)
                if not failed or not made:
                    return
                runs, attempt = runs - made, attempt + 1

    def fuzz(self, corpus, runs, left, seed):
        """How many inputs one process made, and whether it ended with a finding."""
        with tempfile.TemporaryFile("w+", errors="replace") as log:
            process = subprocess.Popen(
                [self.options.fuzzer, f"-runs={runs}", f"-max_total_time={left}", f"-seed={seed}", "-max_len=4096",
                 "-timeout=20", "-rss_limit_mb=3072", "-print_final_stats=1", "-reload=0",
                 f"-artifact_prefix={self.options.keep}/", corpus],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            try:
                code = process.wait(left + 5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                code = 0
            log.seek(0)
            text = log.read()
        units = re.findall(r"number_of_executed_units: (\d+)", text) or re.findall(r"^#(\d+)\s", text, re.M)
        made = int(units[-1]) if units else 0
        with self.lock:
            self.inputs += made
            self.coverage = max([self.coverage] + [int(c) for c in re.findall(r"cov: (\d+)", text)])
            if code:
                self.findings.append(text[-4000:])
        return made, code != 0

    def run(self):
        each = -(-self.options.runs // self.options.jobs)
        jobs = [threading.Thread(target=self.job, args=(i, each)) for i in range(self.options.jobs)]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()


def main():
    parser = argparse.ArgumentParser(description="runs a libFuzzer target on several cores")
    parser.add_argument("--fuzzer", required=True)
    parser.add_argument("--corpus", required=True, help="folder of inputs to begin with")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", type=int, default=1000000, help="inputs of all jobs together")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="findings", help="folder for inputs that fail")
    options = parser.parse_args()
    os.makedirs(options.keep, exist_ok=True)
    start, campaign = time.monotonic(), Campaign(options)
    campaign.run()
    for text in campaign.findings:
        print(text)
    seconds = time.monotonic() - start
    print(f"{os.path.basename(options.fuzzer)}: {campaign.inputs} inputs, {len(campaign.findings)} findings, "
          f"coverage {campaign.coverage}, {seconds:.0f} s, {campaign.inputs / max(seconds, 1):.0f} inputs/s")
    sys.exit(1 if campaign.findings else 0)


if __name__ == "__main__":
    main()
