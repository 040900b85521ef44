#!/usr/bin/bash
echo "Hello, world!"
