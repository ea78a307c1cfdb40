"""Prints the runs of while-copies.test: 3 kernels, 10 lengths, two numbers of warps."""
import sys

for kernel in ("rows", "early", "twice"):
    for warps in (1, 4):
        for k in (0, 8, 32, 64, 96, 128, 136, 160, 192, 512):
            print(f"{sys.argv[1]} --kernel={kernel} --gpu-arch=sm_80 --num-warps={warps} --device=simt --check "
                  f"--arg a=small:bf16[40,{k}] --arg b=small:bf16[{k},48] --arg c=poison:f32[40,48] --arg limit=60")
