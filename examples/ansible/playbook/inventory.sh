#!/bin/sh
# Ansible asks a program for its inventory with --list or --host NAME. It has a group for each block of the file (web).
cd "$(dirname "$0")/.." && exec reconcile output --format ansible "$@"
