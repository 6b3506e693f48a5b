import Testing

/// Rooms in the test's process; see ``RoomHarness``. One after the other: each has a dozen threads.
@Suite("Rooms in process", .serialized, .timeLimit(.minutes(1)))
enum InProcess {}
