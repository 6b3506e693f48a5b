package import PublishAuth
package import Control
package import Egress
package import Logging
package import MediaTypes
package import PipelineSpec
package import Program
package import RoomAPI
package import Threading

/// Saves changes of sources for the next worker. Takes no lock of the room.
package protocol SourceMemory: Sendable {
    /// `admission` with the single-use keys that were used under earlier workers.
    func resumed(_ admission: Admission) -> Admission
    /// Saves that a single-use key was used, or was not used after all. Called on the event loop of the publisher.
    func saveUse(_ use: Admission.KeyUse)
    /// Saves a kick.
    ///
    /// - Parameter until: Nanoseconds since the Unix epoch; nil if the source may be published.
    func saveRefusal(of source: SourceID, until: Int64?)
    /// Saves a relay.
    ///
    /// - Parameter url: With its stream key; nil if the relay was ended.
    func saveRelay(_ id: String, of source: SourceID, url: String?)
}

/// Objects that the sources of a room share, made before the room runs.
package struct SourceParts: Sendable {
    package let roster: SourceRoster
    package let program: ProgramStage
    package let clocks: Clocks
    /// The servers that requests may make the room connect to.
    package let egress: EgressGate
    package let logger: Logger
    /// Whether the room opens its listeners; see ``SourceIngest``.
    package let opensListeners: Bool
    /// Whether the room is a job on files, without a network.
    package let isOffline: Bool
    package let events: RoomEvents
    package let saved: any SourceMemory

    package init(
        roster: SourceRoster, program: ProgramStage, clocks: Clocks, egress: EgressGate, logger: Logger,
        opensListeners: Bool, isOffline: Bool, events: RoomEvents,
        saved: any SourceMemory
    ) {
        self.roster = roster
        self.program = program
        self.clocks = clocks
        self.egress = egress
        self.logger = logger
        self.opensListeners = opensListeners
        self.isOffline = isOffline
        self.events = events
        self.saved = saved
    }
}

/// The interface of the room that its sources use.
package protocol SourcesHost: AnyObject, Sendable {
    /// What the sources share with the room; always the same value.
    var sourceParts: SourceParts { get }
    /// The pipeline that the room runs now.
    var pipeline: Pipeline { get }
    /// Time now on the clock of ``SourceStateMachine``, in nanoseconds: the monotonic clock; offline the time of the next tick.
    var lifeTime: Int64 { get }

    /// Changes the state under the room's lock. `body` must not block and must not use the host.
    func withSources<Result: Sendable>(_ body: (inout SourcesState) -> Result) -> Result

    /// Adds an event to the queue for the ``SourceStateMachine`` of a source. Returns at once.
    ///
    /// - Parameters:
    ///   - time: When it happened, in nanoseconds of ``lifeTime``.
    ///   - announce: Called right before the event is handled, so that what it emits comes before the events that follow. It must not
    ///     block and must not use the host.
    func receive(
        _ event: SourceStateMachine.Event, of source: SourceID, at time: Int64, announce: (@Sendable () -> Void)?)
    /// Media that can be decoded has arrived, at `time` of the monotonic clock. The first starts the program.
    func mediaArrived(at time: Int64)
    /// A publisher has sent a data message, whose values are a JSON array as text.
    func received(data values: String, named name: String, from source: SourceID)
    /// Requests a new layout of the automatic scene, because a source has ended on air.
    func requestLayout()

    /// - Throws: If the room no longer accepts commands.
    func checkOpen() throws(ControlFailure)
    /// Forgets everything else that the room keeps about a removed source, whose publisher has been disconnected.
    func sourceDisconnected(_ source: SourceID)
}

extension SourcesHost {
    /// Opens the connections of sources and handles what they report.
    package var ingestion: SourceIngest { SourceIngest(host: self) }
    /// Runs the decode threads and handles what they report.
    package var decoding: SourceDecoding { SourceDecoding(host: self) }
    /// Refuses sources.
    package var refusing: SourceRefusalService { SourceRefusalService(host: self) }
    /// Sends sources on to other servers.
    package var relaying: SourceRelays { SourceRelays(host: self) }
    /// Adds and removes sources while the room runs.
    package var rosterChanges: RosterChanges { RosterChanges(host: self) }

    /// The source that a request names.
    ///
    /// - Throws: If there is none.
    package func source(_ uid: String, _ streamType: String) throws(ControlFailure) -> RoomSource {
        guard let type = SourceID.StreamType(rawValue: streamType),
            let source = self.sourceParts.roster.sources[SourceID(uid: uid, streamType: type)]
        else {
            let known = self.pipeline.sources.map(\.id.description).joined(separator: ", ")
            throw .notFound("this room has no source \(uid) (\(streamType))", fix: "use one of: \(known)")
        }
        return source
    }
}
