# A million small lists that stay: each collection visits them all.
kept = []
for i in range(1000000):
    kept.append([i])
print(len(kept))
