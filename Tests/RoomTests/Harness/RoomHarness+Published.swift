import Testing

/// Segments published by the packager, which runs in real time.
extension RoomHarness {
    /// Number of the tick that the program composed last.
    func tick() async throws -> Int64 { try #require(try await self.state().member("program", "tick")?.integer) }

    /// Advances time, then waits until every segment that ended by then is published.
    ///
    /// - Parameter segment: Length of a segment in ticks.
    func publish(seconds: Double, segment: Int64 = 20) async throws {
        try await self.run(seconds: seconds)
        let tick = try await self.tick()
        // A segment is written when the first frame of the next one is encoded, which is at most one tick later.
        let end = (tick - 3) / segment * segment
        try await offPool {
            try self.events.wait("segment.published") { event in
                (event.integer("firstTick") ?? 0) + (event.integer("ticks") ?? 0) >= end
            }
        }
    }

    /// The published segments, in order.
    var segments: [ToldEvent] { self.events.all("segment.published") }

    /// Total length of the published segments, in ticks.
    var publishedTicks: Int64 { self.segments.reduce(0) { $0 + ($1.integer("ticks") ?? 0) } }

    /// Waits in real time until an event of the type arrives: for work on threads that do not wait on the test clock.
    @discardableResult
    func told(
        _ type: String, from start: Int = 0, where isWanted: @escaping @Sendable (ToldEvent) -> Bool = { _ in true }
    ) async throws -> ToldEvent {
        try await offPool { try self.events.wait(type, from: start, where: isWanted) }
    }
}
