package import Ingest
package import MediaTypes

/// The sources' part of the room's state, besides what each ``RoomSource`` holds. Reads no clock and does no I/O.
package struct SourcesState: Sendable {
    /// Sources that may not be published for some time, because they were kicked or quarantined.
    package var refusals = SourceRefusals()
    /// Limits the rate of events about refused publishers.
    package var refusalReports = RefusalReports()
    /// Limits the rate of events about timestamp jumps, by source.
    package var reanchors: [SourceID: EventThrottle] = [:]
    /// Limits the rate of publishers' data messages to players.
    package var data = SourceDataLimiter()
    /// The servers and clients of the sources. The room's lock must not be held during calls to them.
    package var connections = SourceConnections()

    package init() {}
}

/// The servers and clients that receive and send packets of sources. Empty before the room has opened them and once it
/// stops them.
package struct SourceConnections: Sendable {
    /// Admits publishers; nil if no source of the room can be published, and while the room has no open connections.
    package var ingest: IngestServer?
    /// Fetches sources from other servers; nil if the pipeline has no such source, and while the room has no open
    /// connections.
    package var pulls: PullService?
    /// Relays sources to other servers; nil for an offline job, and while the room has no open connections.
    package var relays: RelayService?
    /// Records sources; nil before the room is ready.
    package var recordings: SourceRecordingService?

    package init() {}

    /// The hub that receives the packets of a source; nil for a file or an unknown source, and while the room has no
    /// open connections.
    package func hub(for source: SourceID) -> SourceHub? {
        self.ingest?.hub(for: source) ?? self.pulls?.hub(for: source)
    }

    /// Disconnects the publisher of a source, or stops fetching it, until `deadline` in nanoseconds of the monotonic
    /// clock.
    func kick(_ source: SourceID, until deadline: Int64) {
        self.ingest?.kick(source, until: deadline)
        self.pulls?.hold(source, until: deadline)
    }

    /// Closes all servers and clients.
    ///
    /// - Parameter isHandedOver: Whether a successor takes over the publishers.
    package func stop(isHandedOver: Bool) async {
        await self.relays?.stop()
        await self.pulls?.stop()
        await self.ingest?.stop(isHandedOver: isHandedOver)
        await self.recordings?.stop()
    }
}
