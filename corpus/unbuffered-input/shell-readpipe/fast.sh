# The letters on standard input, by a program that reads in blocks.
exec awk '{ total += length($0) } END { print total }'
