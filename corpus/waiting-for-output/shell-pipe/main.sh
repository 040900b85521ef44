seq 1 400000 | awk '{ s += $1 % 7; if ($1 % 2) print $1, s, "row of the table" }'
