window.BENCHMARK_DATA = {
  "lastUpdate": 1617408984634,
  "repoUrl": "https://github.com/user/repo",
  "entries": {
    "Go": [
      {
        "commit": {"author": {"email": "a@example.com", "name": "A", "username": "a"}, "distinct": true, "id": "f79d24cc3ef3c1ce2517c4db7ff654b9a7cc02fb", "message": "First", "timestamp": "2021-04-02T16:40:29-04:00", "tree_id": "d10dced634b4e4e6768ce11ca4f205086354b4fd", "url": "https://github.com/user/repo/commit/f79d24cc"},
        "date": 1617396172463,
        "tool": "go",
        "benches": [
          {"name": "BenchmarkFib10", "value": 325.3, "unit": "ns/op\t     64 B/op", "extra": "3674540 times\n8 procs"},
          {"name": "BenchmarkFib10 - ns/op", "value": 325.3, "unit": "ns/op", "extra": "3674540 times\n8 procs"},
          {"name": "BenchmarkFib10 - B/op", "value": 64, "unit": "B/op", "extra": "3674540 times\n8 procs"}
        ]
      },
      {
        "commit": {"id": "b2a83495c0d2a07b1f0e5d7a1d6d7d0f1b0a9f11", "message": "Second"},
        "date": 1617408984463,
        "tool": "go",
        "benches": [
          {"name": "BenchmarkFib10 - ns/op", "value": 310.5, "unit": "ns/op", "extra": "3674540 times\n8 procs"}
        ]
      }
    ],
    "Sizes": [
      {
        "commit": {"id": "b2a83495c0d2a07b1f0e5d7a1d6d7d0f1b0a9f11", "message": "Second"},
        "date": 1617408984634,
        "tool": "customBiggerIsBetter",
        "benches": [
          {"name": "Free Memory", "value": "150", "unit": "Megabytes", "range": "± 3"}
        ]
      }
    ]
  }
};
