package import Control
package import MediaTypes
package import PipelineSpec
package import RoomScenes

/// The state that the room's next worker restores: for example, what operators have commanded, used stream keys, and active
/// alarms. It is the content of `commands.json`.
///
/// A value without clock, lock or I/O. Times called room time are nanoseconds since the Unix epoch, computed as origin +
/// program time once the program runs, so that a change of the system clock moves no deadline.
package struct CommandedState: Sendable, Equatable {
    /// Name of the file in the directory of the HLS output; in `control.stateDirectory`, the room's id and a dot precede
    /// it.
    package static let name = "commands.json"
    /// Major version of the file. A worker ignores a file with another version. A minor version only adds members.
    package static let version = 1
    /// Minor version of the file. Since 1, `pk` has the scenes named by the command that started the PK.
    package static let minor = 1
    /// Largest size of the file in bytes, which writing keeps to if possible; see ``bytes``.
    package static let limit = 256 << 10

    /// Changes that API requests have made to the room's document.
    package struct Document: Sendable, Equatable {
        package var revision: Int
        /// The differences of the document from the pipeline file; stream keys are hashed.
        package var edits: [DocumentEdit]

        package init(revision: Int, edits: [DocumentEdit]) {
            self.revision = revision
            self.edits = edits
        }
    }

    /// A scene that was put on air, or that is scheduled for a later tick.
    package struct Showing: Sendable, Equatable {
        package var scene: String
        package var tick: Int64
        /// For each countdown that began with the scene: the tick at which it ends.
        package var ends: [String: Int64] = [:]
        package var transition: Transition?

        package init(scene: String, tick: Int64, ends: [String: Int64] = [:], transition: Transition? = nil) {
            self.scene = scene
            self.tick = tick
            self.ends = ends
            self.transition = transition
        }
    }

    /// A scene that a command has set or removed, or whose revision differs from the document's.
    package struct SceneChange: Sendable, Equatable {
        package var revision: Int
        /// The scene as the request's body had it; nil if the scene is as in the document, or was removed.
        package var body: JSONNode?
        package var isRemoved = false

        package init(revision: Int, body: JSONNode? = nil, isRemoved: Bool = false) {
            self.revision = revision
            self.body = body
            self.isRemoved = isRemoved
        }
    }

    package struct PK: Sendable, Equatable {
        package var phase: PKStateMachine.Phase
        /// When the phase began, in room time.
        package var since: Int64
        /// When the phase ends, in room time; nil if it lasts until a command ends it.
        package var endsAt: Int64?
        /// Lengths of the phases, in nanoseconds.
        package var durations: PKStateMachine.Durations
        /// Whether a PK that starts automatically has already started.
        package var hasStartedItself: Bool
        /// The scenes named by the command that started the PK.
        package var scenes: SceneSelector.PK.Scenes

        package init(
            phase: PKStateMachine.Phase, since: Int64, endsAt: Int64?, durations: PKStateMachine.Durations,
            hasStartedItself: Bool,
            scenes: SceneSelector.PK.Scenes = SceneSelector.PK.Scenes()
        ) {
            self.phase = phase
            self.since = since
            self.endsAt = endsAt
            self.durations = durations
            self.hasStartedItself = hasStartedItself
            self.scenes = scenes
        }
    }

    /// Changes that commands have made to one source. A member is nil if the source has the value of the document.
    package struct Source: Sendable, Equatable {
        package var videoPush: Bool?
        package var audioPush: Bool?
        /// Volume of the source in percent; nil if no command has set it.
        package var volume: Int?
        /// Volumes of audio tracks that commands have set, in percent, by track number.
        package var trackVolumes: [Int: Int] = [:]
        package var offsetMs: Int?
        package var rotation: Int?
        /// Whether a command has switched the source's own recording on (true) or off (false); nil if none has.
        package var recording: Bool?
        /// The source may not be published before this room time; nil if it may be published now.
        package var refusedUntil: Int64?
        /// The source was lost, and the room waits for it until this room time; 0 if the room has stopped waiting; nil
        /// if it is not lost.
        package var graceUntil: Int64?

        package init() {}
    }

    package struct Score: Sendable, Equatable {
        package var left: Int
        package var right: Int

        package init(left: Int, right: Int) {
            self.left = left
            self.right = right
        }
    }

    package struct Relay: Sendable, Equatable {
        package var source: SourceID
        package var id: String
        /// RTMP URL to which the source is relayed, with the stream key.
        package var url: String

        package init(source: SourceID, id: String, url: String) {
            self.source = source
            self.id = id
            self.url = url
        }
    }

    /// A single-use stream key that a publisher has used.
    package struct UsedKey: Sendable, Equatable {
        /// Salted hash of the key, in hexadecimal.
        package var digest: String
        /// Unix time in seconds at which the key expires; the entry is not needed after that.
        package var expiry: Int64

        package init(digest: String, expiry: Int64) {
            self.digest = digest
            self.expiry = expiry
        }
    }

    /// An active alarm that was announced to clients.
    package struct Alarm: Sendable, Equatable {
        package var id: String
        package var alarm: ActiveAlarms.Alarm
        package var setAt: Int64

        package init(id: String, alarm: ActiveAlarms.Alarm, setAt: Int64) {
            self.id = id
            self.alarm = alarm
            self.setAt = setAt
        }
    }

    /// A clip that was requested and is not ready.
    package struct Clip: Sendable, Equatable {
        package var id: String
        package var name: String
        package var rendition: String
        /// Range of program dates, in nanoseconds since the Unix epoch.
        package var range: Range<Int64>

        package init(id: String, name: String, rendition: String, range: Range<Int64>) {
            self.id = id
            self.name = name
            self.rendition = rendition
            self.range = range
        }
    }

    package var roomID: String
    /// Salt of every hash in the file, in hexadecimal.
    package var salt: String
    /// Incarnation of the worker that wrote the file: its number among the workers of the room.
    package var incarnation: Int64 = 0
    /// Number of workers that restored this state and have not survived ``Resumption/probation``.
    package var attempts = 0
    /// Revision of the commanded state; see `CommandRevisions`.
    package var revision: Int64 = 1
    /// Whether the room was asked to end, or has ended by itself.
    package var isEnded = false
    package var document: Document?
    package var onAir: Showing?
    package var upcoming: [Showing] = []
    package var scenes: [String: SceneChange] = [:]
    package var pk: PK?
    package var sources: [SourceID: Source] = [:]
    package var texts: [String: String] = [:]
    package var scores: [String: Score] = [:]
    /// Tick at which each countdown ends, by the countdown's id.
    package var countdowns: [String: Int64] = [:]
    package var relays: [Relay] = []
    /// Room time since which the room has had no publisher; nil if it has one.
    package var idleSince: Int64?
    package var alarms: [Alarm] = []
    package var clips: [Clip] = []
    /// Replies to commands with an idempotency key, the oldest first.
    package var replies: [KeptReply] = []
    /// Single-use stream keys that were used, the oldest first.
    package var usedKeys: [UsedKey] = []

    /// Members of the file that this version does not know, by the path of their object. They are written back when the
    /// file is rewritten.
    package var unknown: [String: [JSONMember]] = [:]
    /// For each member of the pipeline file that commands have changed: a hash of its value in the file that the worker
    /// ran that wrote this state. A different hash later shows that the operator has changed the member.
    package var fileMembers: [String: String] = [:]

    package init(roomID: String, salt: String) {
        self.roomID = roomID
        self.salt = salt
    }

    /// Changes the entry of a source. An entry without any value is removed, unless a later version has written members
    /// that this version does not know.
    package mutating func change(_ source: SourceID, _ body: (inout Source) -> Void) {
        var known = self.sources[source] ?? Source()
        body(&known)
        let isKnown = known != Source() || self.unknown[Self.path(of: source)] != nil
        self.sources[source] = isKnown ? known : nil
    }

    /// Removes a source's entry and its relays.
    package mutating func forget(_ source: SourceID) {
        for relay in self.relays where relay.source == source { self.unknown[Self.path(of: relay)] = nil }
        self.unknown[Self.path(of: source)] = nil
        self.sources[source] = nil
        self.relays.removeAll { $0.source == source }
    }

    /// Records the scene on air. If another scene was on air, then the unknown members of its entry are dropped.
    package mutating func setOnAir(_ showing: Showing) {
        if self.onAir?.scene != showing.scene {
            for path in ["onAir", "onAir.transition"] { self.unknown[path] = nil }
        }
        self.onAir = showing
    }

    /// Records a scene that a command has set or removed. Unknown members of the scene's previous entry are dropped.
    package mutating func setScene(_ id: String, _ change: SceneChange) {
        self.unknown["scenes[\(id)]"] = nil
        self.scenes[id] = change
    }

    /// Records the PK. Unknown members of the previous entry are dropped if a PK now runs and none did before, or if there
    /// is nothing to restore.
    ///
    /// - Parameter pk: The PK; nil if there is nothing to restore.
    package mutating func setPK(_ pk: PK?) {
        let wasRunning = self.pk.map { $0.phase != .idle } ?? false
        if pk.map({ $0.phase != .idle && !wasRunning }) ?? true { self.unknown["pk"] = nil }
        self.pk = pk
    }

    /// Whether there is nothing to restore, so that no file is needed.
    package var isPlain: Bool {
        var plain = CommandedState(roomID: self.roomID, salt: self.salt)
        plain.incarnation = self.incarnation
        return plain == self
    }
}
