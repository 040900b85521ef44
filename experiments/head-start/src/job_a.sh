#!/usr/bin/env bash
# Two lines with pauses: a tenth of the published 3 s and 2 s.
sleep 0.3
echo first
sleep 0.2
echo second
