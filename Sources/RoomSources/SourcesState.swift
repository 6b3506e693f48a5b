package import Ingest
package import MediaTypes

/// What a room knows of its sources, beside what each ``RoomSource`` holds. Part of the room's value; reads no clock and does no I/O.
package struct SourcesState: Sendable {
    /// Sources that may not be published for some time.
    package var refusals = SourceRefusals()
    /// Limits the events about publishers that are refused.
    package var refusalReports = RefusalReports()
    /// Limits the events about jumps of timestamps, by source.
    package var reanchors: [SourceID: EventThrottle] = [:]
    /// Limits the data messages of publishers to viewers.
    package var data = SourceDataLimiter()
    /// What connects the sources to the network. Code that calls it releases the room's value first.
    package var connections = SourceConnections()

    package init() {}
}

/// The servers and clients that packets of sources come in and go out through. Empty before the room has opened them and once it has
/// stopped them.
package struct SourceConnections: Sendable {
    /// Admits publishers; nil if no source of the room can be published.
    package var ingest: IngestServer?
    /// Fetches sources; nil if none is fetched.
    package var pulls: PullService?
    /// Sends sources on to other servers; nil for an offline job.
    package var relays: RelayService?

    package init() {}

    /// Where the packets of `source` can be read; nil for files.
    package func hub(for source: SourceID) -> SourceHub? {
        self.ingest?.hub(for: source) ?? self.pulls?.hub(for: source)
    }

    /// Disconnects the publisher of `source`, or stops fetching it, until `deadline`, in nanoseconds of the monotonic clock.
    func kick(_ source: SourceID, until deadline: Int64) {
        self.ingest?.kick(source, until: deadline)
        self.pulls?.hold(source, until: deadline)
    }

    /// Closes everything that is open.
    ///
    /// - Parameter isHandedOver: Whether a successor takes the publishers.
    package func stop(isHandedOver: Bool) async {
        await self.relays?.stop()
        await self.pulls?.stop()
        await self.ingest?.stop(isHandedOver: isHandedOver)
    }
}
