import Testing

/// Tests that start the real program and check bytes, files, exit codes and refusals, or time limits with at least half
/// a second to spare. Four of them run at the same time, one of each part: most of their time they wait for the next
/// segment.
@Suite("End to end: tests with no time limits, or with at least half a second to spare", .waitingThreads)
enum Unhurried {
    /// Third-party stores, and a worker that is killed and replaced.
    @Suite("Stores and successors", .serialized, .timeLimit(.minutes(testMinutes)), .steadyMachine)
    enum Stores {}

    /// Recordings, sprite sheets, full disks, changed files; commands, codecs and commanded state.
    @Suite("Records", .serialized, .timeLimit(.minutes(testMinutes)), .steadyMachine)
    enum Records {}

    /// Comparisons of frames, examples. CPU-intensive tests are here, so that only one runs at a time.
    @Suite("Frames and examples", .serialized, .timeLimit(.minutes(testMinutes)), .steadyMachine)
    enum Frames {}

    /// How publishers, viewers and operators connect, and how a room ends.
    @Suite("Access and lifecycle", .serialized, .timeLimit(.minutes(testMinutes)), .steadyMachine)
    enum Access {}
}
