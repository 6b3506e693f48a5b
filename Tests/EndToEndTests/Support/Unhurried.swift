import Testing

/// Tests that start the real program and check bytes, files, exit codes and refusals, or time limits with at least half
/// a second to spare. Three of them run at the same time, one of each part: most of their time they wait for the next
/// segment.
@Suite("End to end: tests with no time limits, or with at least half a second to spare", .waitingThreads)
enum Unhurried {
    /// Recordings, sprite sheets, third-party stores, full disks, changed files; commands, codecs and commanded state.
    @Suite("Stores", .serialized, .timeLimit(.minutes(testMinutes)), .steadyMachine)
    enum Stores {}

    /// Comparisons of frames, examples, successors. CPU-intensive tests are here, so that only one runs at a time.
    @Suite("Frames and examples", .serialized, .timeLimit(.minutes(testMinutes)), .steadyMachine)
    enum Pictures {}

    /// How publishers, viewers and operators connect, and how a room ends.
    @Suite("Access and lifecycle", .serialized, .timeLimit(.minutes(testMinutes)), .steadyMachine)
    enum Doors {}
}
