"""Prints the runs of while-copies.test: kernels, lengths, two numbers of warps, two chips."""
import sys

LENGTHS = (0, 8, 32, 64, 96, 128, 136, 160, 192, 512)
SETTINGS = [f"--gpu-arch=sm_80 --num-warps={warps}" for warps in (1, 4)] + ["--gpu-arch=sm_90a -D BM=64 -D BN=64"]
for kernel in ("rows", "early", "first", "twice"):
    for setting in SETTINGS:
        for k in LENGTHS if "sm_80" in setting or kernel == "rows" else LENGTHS[:5]:
            print(f"{sys.argv[1]} --kernel={kernel} {setting} --device=simt --check "
                  f"--arg a=small:bf16[40,{k}] --arg b=small:bf16[{k},48] --arg c=poison:f32[40,48] --arg limit=60")
