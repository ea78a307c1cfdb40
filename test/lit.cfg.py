#===- lit.cfg.py - how the lit tests run --------------------------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
import os
import shutil
import subprocess
import sys

import lit.formats

config.name = "tilec"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".tile", ".mlir", ".test", ".ll"]
config.excludes = ["Inputs", "Unit", "Examples", "Language"]

# Our tools by full path, LLVM's test tools through PATH.
config.environment["PATH"] = os.pathsep.join(
    [config.tilec_tools_dir, config.llvm_tools_dir, config.environment["PATH"]])
for name in ("CUDA_HOME", "CI", "TILEC_REQUIRE_GPU"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["TILEC_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
config.substitutions.append(("%examples", os.path.join(config.test_source_root, "Examples")))
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%build", os.path.dirname(config.tilec_tools_dir)))


def find_ptxas():
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    return shutil.which("ptxas") or shutil.which("ptxas", path=os.path.join(home, "bin"))


def has_gpu():
    return os.path.exists("/dev/nvidiactl")


ptxas = find_ptxas()
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
if has_gpu():
    config.available_features.add("gpu")
