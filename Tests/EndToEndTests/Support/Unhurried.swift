import Testing

/// What starts the real program and is judged by bytes, files, exit codes and refusals, or by bars with half a second and more
/// to spare. Three of these tests run at the same time, one of each part: most of their time they wait for the next segment.
@Suite("End to end, unhurried", .waitingThreads)
enum Unhurried {
    /// Recordings, sheets of stills, stores of other makers.
    @Suite("Stores", .serialized, .timeLimit(.minutes(testMinutes)), .steadyMachine)
    enum Stores {}

    /// Pictures held against what they should be, examples, successors. What keeps the machine busy is here, so that one does
    /// at a time.
    @Suite("Pictures", .serialized, .timeLimit(.minutes(testMinutes)), .steadyMachine)
    enum Pictures {}

    /// How publishers, viewers and operators get in, and how a room ends.
    @Suite("Doors", .serialized, .timeLimit(.minutes(testMinutes)), .steadyMachine)
    enum Doors {}
}
