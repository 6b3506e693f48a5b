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
    /// Adds the single-use keys that were used under earlier workers to the rules of admission.
    func resumed(_ admission: Admission) -> Admission
    /// Saves that a single-use key was used, or that its use was revoked. Called on the event loop of the publisher.
    func saveUse(_ use: Admission.KeyUse)
    /// Saves the kick of a source.
    ///
    /// - Parameter until: End of the kick in nanoseconds since the Unix epoch; nil if the source may be published.
    func saveRefusal(of source: SourceID, until: Int64?)
    /// Saves whether the recording of a source is on by a command; nil if it is as in the document.
    func saveRecording(of source: SourceID, isOn: Bool?)
    /// Saves a relay that a command has started or ended.
    ///
    /// - Parameter url: URL with the stream key; nil if the relay was ended.
    func saveRelay(_ id: String, of source: SourceID, url: String?)
}

/// The objects that the sources of a room share. Made before the room runs.
package struct SourceParts: Sendable {
    package let roster: SourceRoster
    package let program: ProgramStage
    package let clocks: Clocks
    /// Decides to which servers requests may make the room connect.
    package let egress: EgressGate
    package let logger: Logger
    /// Whether the room opens its listeners; see ``SourceIngest``.
    package let opensListeners: Bool
    /// Whether the room is an offline job, which reads files and has no publishers.
    package let isOffline: Bool
    package let events: RoomEvents
    package let saved: any SourceMemory
    /// Makes stills of single sources on request.
    package let stills: SourceStills

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
        self.stills = SourceStills(clock: program.clock, machine: clocks.machine)
    }
}

/// The interface that sources use to reach the room.
package protocol SourcesHost: AnyObject, Sendable {
    /// The objects that the sources share with the room; the same value in each call.
    var sourceParts: SourceParts { get }
    /// The pipeline that the room runs now.
    var pipeline: Pipeline { get }
    /// The current time on the clock of ``SourceStateMachine``, in nanoseconds: the monotonic clock; offline, the time of the
    /// next tick.
    var lifeTime: Int64 { get }

    /// Changes the state of the sources under the room's lock. `body` must not block, and must not use the host.
    func withSources<Result: Sendable>(_ body: (inout SourcesState) -> Result) -> Result

    /// Adds an event to the queue for the ``SourceStateMachine`` of a source. Returns at once.
    ///
    /// - Parameters:
    ///   - time: When the event occurred, in nanoseconds of ``lifeTime``.
    ///   - announce: Called right before the event is handled, so that the events that it emits precede those that
    ///     follow. It must not block, and must not use the host.
    func receive(
        _ event: SourceStateMachine.Event, of source: SourceID, at time: Int64, announce: (@Sendable () -> Void)?)
    /// Called when media that can be decoded has arrived, at `time` of the monotonic clock. The first call starts the
    /// program.
    func mediaArrived(at time: Int64)
    /// Called when a publisher has sent a data message. `values` is a JSON array, as text.
    func received(data values: String, named name: String, from source: SourceID)
    /// Requests a new layout of the automatic scene on air, because a source has ended.
    func requestLayout()

    /// Checks that the room accepts commands.
    ///
    /// - Throws: ``ControlFailure`` if the room has ended or is ending, or if this worker hands it over.
    func checkOpen() throws(ControlFailure)
    /// Removes a source that has left the room, and whose publisher was disconnected, from passthrough, captions and the
    /// saved commands.
    func sourceDisconnected(_ source: SourceID)
}

extension SourcesHost {
    /// Opens the connections of sources, and handles their events.
    package var ingestion: SourceIngest { SourceIngest(host: self) }
    /// Runs the decode threads, and handles their events.
    package var decoding: SourceDecoding { SourceDecoding(host: self) }
    /// Refuses publishers of kicked and quarantined sources.
    package var refusing: SourceRefusalService { SourceRefusalService(host: self) }
    /// Relays sources to other servers.
    package var relaying: SourceRelays { SourceRelays(host: self) }
    /// Records sources as their publishers send them.
    package var sourceRecording: SourceRecordings { SourceRecordings(host: self) }
    /// Adds and removes sources while the room runs.
    package var rosterChanges: RosterChanges { RosterChanges(host: self) }

    /// Finds the source that a request names.
    ///
    /// - Throws: 404 if there is none.
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
