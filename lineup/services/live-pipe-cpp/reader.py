"""Reads what comes, and takes a while for each piece."""
import os
import time

while os.read(0, 4096):
    time.sleep(0.02)
