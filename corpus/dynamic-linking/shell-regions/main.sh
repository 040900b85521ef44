# Runs a tool once for each region.
for region in eu us asia africa sa oceania; do
    "$1" "$region"
done
