/** A log of lines; System.out flushes at every newline. */
class Main {
    public static void main(String[] args) {
        int state = 1;
        for (int i = 0; i < 300000; i++) {
            state = state * 1664525 + 1013904223;
            System.out.println("item " + i + " has value " + state + " and state " + ((state & 1024) != 0 ? "ready" : "waiting"));
        }
    }
}
