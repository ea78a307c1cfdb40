"""exit-code.py N command…: runs the command; succeeds if it exits with N."""
import subprocess
import sys

status = subprocess.run(sys.argv[2:]).returncode
if status != int(sys.argv[1]):
    sys.exit(f"exit code {status}, expected {sys.argv[1]}")
