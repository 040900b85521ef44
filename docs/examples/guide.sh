#!/bin/sh
# Makes the folder in which every command of docs/guide.md and README.md runs as printed: small programs,
# their inputs, and a git repository with four versions of one program, one of which is slower.
# It needs git, make and a C compiler.
#
#     sh docs/examples/guide.sh DIR && cd DIR
set -eu
test $# -eq 1 || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir "$1"
cd "$1"

# Inputs.
awk 'BEGIN { for (n = 0; n < 20000; n++) print n, "The quick brown fox jumps over the lazy dog", n * n % 9973 }' > big.txt
awk 'BEGIN { for (n = 0; n < 3000; n++) print n, "alpha beta gamma", n % 31, "delta" n % 613 }' > input.txt
awk 'BEGIN { for (n = 0; n < 60000; n++) printf "127.0.0.%d - - [01/Jan/2026] \"GET /page/%d\" 200 %d\n", n % 250, n % 971, n * 7 % 5000 }' > access.log

# A program with one cause of slowness: it writes every line with its own call.
mkdir src
cat > src/my-program.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(int count, char **words) {
    FILE *input = count > 1 ? fopen(words[1], "r") : stdin;
    char line[4096];
    if (!input) return 1;
    for (int again = 0; again < 20; again++) {
        rewind(input);
        while (fgets(line, sizeof line, input)) {
            int length = 0;
            while (line[length]) length++;
            if (write(1, line, length) < 0) return 1;
        }
    }
    return 0;
}
END

# Servers.
cat > server.js <<'END'
require('http').createServer((request, answer) => answer.end('hello\n')).listen(process.argv[2], '127.0.0.1');
END
cat > app.py <<'END'
import http.server, sys
class Hello(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *words): pass
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Length', '6')
        self.end_headers()
        self.wfile.write(b'hello\n')
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Hello).serve_forever()
END
printf '#!/bin/sh\nexec python3 app.py "$1"\n' > app
chmod +x app
echo 'print("hello")' > tool.py

# A Go benchmark, for `go test -bench .`
printf 'module example.org/words\n\ngo 1.18\n' > go.mod
cat > words_test.go <<'END'
package words
import (
	"strings"
	"testing"
)
func BenchmarkFields(b *testing.B) {
	for n := 0; n < b.N; n++ {
		strings.Fields("The quick brown fox jumps over the lazy dog")
	}
}
END

# A repository: a program that counts different words, and its suite.
cat > Makefile <<'END'
tool: src/tool.c
	cc -O1 -g -o tool src/tool.c
END
cat > fathom.toml <<'END'
schema_version = 1
title = "A counter of words"

[inputs.words]
generate = "seq {size}"
size     = 3000

[builds.tool]
command = "cc -O1 -g -o {work}/tool src/tool.c"

[subjects.parse]
command = "{work}/tool"
input   = "words"
needs   = ["tool"]

[[measure]]
id     = "time"
how    = "bench"
rounds = 20
END
program() {
    cat > src/tool.c <<END
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define SLOTS 8192
static char *slots[SLOTS];
static unsigned hash(const char *word) {
    unsigned sum = 0;
    for (; *word; word++) sum = $1;
    return sum % SLOTS;
}
static int is_new(const char *word) {
    unsigned at = hash(word);
    while (slots[at] && strcmp(slots[at], word)) at = (at + 1) % SLOTS;
    if (slots[at]) return 0;
    slots[at] = strdup(word);
    return 1;
}
int main(int count, char **words) {
    FILE *input = count > 1 ? fopen(words[1], "r") : stdin;
    char word[256];
    long all = 0, different = 0;
    if (!input) return 1;
    while (fscanf(input, "%255s", word) == 1) all++, different += is_new(word);
    printf("%ld words, %ld different\n", all, different);
    return 0;
}
END
}
git init -q -b main
git config user.name Ada
git config user.email ada@example.org
printf '%s\n' .fathom tool my-program old new '*.txt' '*.log' '*.html' '*.json' '*.bundle' public > .gitignore
number=0
commit() {
    number=$((number + 1))
    date="2026-01-$(printf %02d "$number")T12:00:00Z"
    git add -A
    GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date git commit -q -m "$1"
}
program 'sum * 31 + (unsigned char)*word'
commit 'Count different words'
git tag v1.0
echo 'Counts words.' > NOTES
commit 'Say what it does'
git tag v1.1
# The order of a word's letters no longer matters: many words share a slot.
program 'sum + (unsigned char)*word'
commit 'Simplify the hash'
git tag v1.2
echo 'It takes a file or standard input.' >> NOTES
commit 'Say what it reads'
git tag v2.0
make -s tool
cc -O1 -g -o my-program src/my-program.c
cp tool new
git show v1.0:src/tool.c | cc -O1 -g -x c -o old -
# The change in the working tree: the first hash again, not yet committed.
program 'sum * 31 + (unsigned char)*word'
