import Testing

/// What the packager, which works in real time, has published.
extension RoomHarness {
    /// Number of the tick that the program composes next.
    func tick() async throws -> Int64 { try #require(try await self.state().member("program", "tick")?.integer) }

    /// Lets so many seconds go by, and waits until every segment that was over at the end of them is published.
    ///
    /// - Parameter segment: Ticks of a segment.
    func publish(seconds: Double, segment: Int64 = 20) async throws {
        try await self.run(seconds: seconds)
        let tick = try await self.tick()
        // A segment is written when the first frame of the next one is coded, which an encoder does one tick late at most.
        let end = (tick - 3) / segment * segment
        try await offPool {
            try self.events.wait("segment.published") { event in
                (event.integer("firstTick") ?? 0) + (event.integer("ticks") ?? 0) >= end
            }
        }
    }

    /// The segments that were published, in order.
    var segments: [ToldEvent] { self.events.all("segment.published") }

    /// Ticks of all published segments.
    var publishedTicks: Int64 { self.segments.reduce(0) { $0 + ($1.integer("ticks") ?? 0) } }

    /// Blocks until an event of the type was told, in real time: for what happens on threads that do not wait on the clock.
    @discardableResult
    func told(
        _ type: String, from start: Int = 0, where isWanted: @escaping @Sendable (ToldEvent) -> Bool = { _ in true }
    ) async throws -> ToldEvent {
        try await offPool { try self.events.wait(type, from: start, where: isWanted) }
    }
}
