import Testing

/// Rooms in the test process; see ``RoomHarness``. They run one after another, since each has a dozen threads.
@Suite("Rooms in the test process", .serialized, .timeLimit(.minutes(1)))
enum InProcess {}
