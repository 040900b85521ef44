#!/usr/bin/zsh
echo "Hello, world!"
